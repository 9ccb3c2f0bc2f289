/** One request on its way, and what became of it: filled in by the client, read when it has ended. NaN is "never happened". */

import type { RequestRecord, Stage } from "../ledger/records.ts";

export interface Exchange {
  readonly n: number;
  readonly intendedMs: number;
  readonly dispatchedMs: number;
  connectedMs: number;
  writtenMs: number;
  firstByteMs: number;
  /** NaN while it is open. */
  endedMs: number;
  status: number | null;
  stage: Stage | null;
  error: string | null;
  connectionId: number;
  reuse: number;
  ageMs: number;
  closedFirst: RequestRecord["connection"]["closedFirst"];
  promised: number | null;
  got: number;
  copy: string | null;
  upstream: string | null;
}
