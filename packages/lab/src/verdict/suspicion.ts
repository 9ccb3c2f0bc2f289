/** What one request alone tells: whether it may be bad, and when its service had answered it. */

import type { RequestRecord } from "../ledger/records.ts";
import { triedPorts } from "./attribution.ts";
import { routerConnectMs } from "./router-times.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { Harm } from "./verdict.ts";

/** Null: it is good. `slowed` means that it may be: the limit is known at the end. */
export function suspicion(request: RequestRecord): Harm | null {
  if (request.fate === "failed") {
    return request.stage === "body" ? "truncated" : "lost";
  }
  if ((request.status ?? 0) >= THRESHOLDS.failedFromStatus) {
    return "lost";
  }
  if (request.upstream?.includes(", ") === true && triedPorts(request.upstream).length > 1) {
    return "masked";
  }
  // The slow limit is some baseline and this, so no slow request is missed.
  const late = answeredAtMs(request) - request.intendedMs > THRESHOLDS.slowOverBaselineMs;
  return late || isConnectRetry(request) ? "slowed" : null;
}

/**
 * When the service had answered, for the question whether it was slow. A stream of events is as quick as its first byte, and the
 * time that an upload took to go out was the client's.
 */
export function answeredAtMs(request: RequestRecord): number {
  const { uploaded, connectedMs, writtenMs, firstByteMs, endedMs } = request;
  if (isStream(request)) {
    return firstByteMs ?? endedMs;
  }
  return uploaded === undefined || connectedMs === null || writtenMs === null
    ? endedMs
    : endedMs - (writtenMs - connectedMs);
}

/** A connection, the client's or the router's, that was made at the second try. */
export function isConnectRetry(request: RequestRecord): boolean {
  const { connectedMs, dispatchedMs, endedMs } = request;
  const limitMs = THRESHOLDS.connectRetryMs;
  return (
    (connectedMs ?? endedMs) - dispatchedMs >= limitMs ||
    // Asked of those only that were slow enough for it: they are few.
    (endedMs - dispatchedMs >= limitMs && routerConnectMs(request) >= limitMs)
  );
}

/** Something that is open for as long as the client likes. */
export function isStream({ events, webSocket }: RequestRecord): boolean {
  return events !== undefined || webSocket !== undefined;
}
