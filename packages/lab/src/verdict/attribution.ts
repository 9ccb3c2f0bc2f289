/** Which copy a request met: by what the answer says of itself, else by the addresses that the router tried. */

import type { RequestRecord, RunMs } from "../ledger/records.ts";
import type { CopyLife, RestartSpan, Timeline } from "./timeline.ts";

/** The ports in a router's `x-lastcall-upstream`, one for each try. */
export function triedPorts(upstream: string | null): readonly number[] {
  const [addresses = ""] = (upstream ?? "").split("|");
  return addresses
    .split(/, | : /)
    .map((address) => Number(/:(\d+)$/.exec(address.trim())?.[1] ?? Number.NaN))
    .filter((port) => !Number.isNaN(port));
}

export interface Attribution {
  /** The name of the copy that answered, or that was tried last. */
  readonly copyOf: (request: RequestRecord) => string | null;
  /** The copies that the router tried, in order; empty where it does not tell. */
  readonly triedBy: (request: RequestRecord) => readonly string[];
  readonly copyAtPort: (port: number, atMs: RunMs) => string | null;
}

export function attributionOf(timeline: Timeline): Attribution {
  const names = new Set(timeline.copies.map((copy) => copy.name));
  const byPid = new Map(
    timeline.copies.flatMap((copy) => (copy.pid === null ? [] : [[String(copy.pid), copy.name] as const])),
  );
  const byPort = new Map<number, CopyLife[]>();
  for (const copy of timeline.copies) {
    if (copy.port !== null) {
      byPort.set(copy.port, [...(byPort.get(copy.port) ?? []), copy]);
    }
  }

  // A replacement may get the port of the one before it: the last that had started by then.
  const copyAtPort = (port: number, atMs: RunMs): string | null => {
    const lives = byPort.get(port);
    return (lives?.findLast((copy) => copy.startedMs <= atMs) ?? lives?.[0])?.name ?? null;
  };
  const triedBy = (request: RequestRecord): readonly string[] =>
    triedPorts(request.upstream)
      .map((port) => copyAtPort(port, request.endedMs))
      .filter((name) => name !== null);
  return {
    triedBy,
    copyAtPort,
    copyOf: (request) => {
      if (request.copy !== null) {
        const named = names.has(request.copy) ? request.copy : byPid.get(request.copy);
        if (named !== undefined) {
          return named;
        }
      }
      return request.upstream === null ? null : (triedBy(request).at(-1) ?? null);
    },
  };
}

/**
 * The restart that a bad request falls into: that of its copy, or of the copy whose replacement it met; without a copy, the
 * latest that was going on.
 */
export function restartOf(
  timeline: Timeline,
  request: Pick<RequestRecord, "dispatchedMs" | "endedMs">,
  copy: string | null,
): number | null {
  const overlaps = (span: RestartSpan): boolean =>
    span.life.signalMs <= request.endedMs && request.dispatchedMs <= span.endMs;
  const own = timeline.restarts.findLastIndex(
    (span) => (span.life.name === copy || span.replacement?.name === copy) && overlaps(span),
  );
  const index = own >= 0 ? own : timeline.restarts.findLastIndex((span) => overlaps(span));
  return index < 0 ? null : index;
}
