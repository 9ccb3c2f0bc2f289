/** What a router's `x-lastcall-upstream` says of times: how long its connection took, and how long it kept a request itself. */

import type { RequestRecord } from "../ledger/records.ts";

/** How long the router's last connection to a copy took; 0 where it tells nothing. */
export function routerConnectMs({ upstream }: RequestRecord): number {
  const seconds = Number(upstream?.split("|")[2]?.split(", ").at(-1));
  return Number.isNaN(seconds) ? 0 : seconds * 1000;
}

/**
 * How long a request was at the router beyond the time that its copies took: in its accept queue, or in a thread that did not get at a
 * processor. 0 where the router does not tell, and for streams, which last as long as their clients like.
 */
export function heldByRouterMs({
  upstream,
  events,
  dispatchedMs,
  writtenMs,
  endedMs,
}: RequestRecord): number {
  const times =
    upstream
      ?.split("|")[3]
      ?.split(/, | : /)
      .map(Number) ?? [];
  const atCopiesMs = times.reduce((sum, seconds) => sum + seconds * 1000, 0);
  return events !== undefined || times.length === 0 || Number.isNaN(atCopiesMs)
    ? 0
    : endedMs - (writtenMs ?? dispatchedMs) - atCopiesMs;
}
