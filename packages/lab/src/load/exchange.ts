/** One request on its way, and what became of it: filled in by the client, read when it has ended. NaN is "never happened". */

import type { RequestRecord, Stage, WebSocketTold } from "../ledger/records.ts";

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
  /** Body bytes of an upload that were handed to the connection; NaN where there is none. */
  uploaded: number;
  /** Server-sent events that came; NaN where none were asked for. */
  events: number;
  /** Null where no WebSocket was asked for. */
  webSocket: WebSocketTold | null;
  /** How often its WebSocket has been opened again by now. */
  again: number;
}

/** Nothing has happened yet. */
export function newExchange(n: number, intendedMs: number, dispatchedMs: number): Exchange {
  return {
    n,
    intendedMs,
    dispatchedMs,
    connectedMs: Number.NaN,
    writtenMs: Number.NaN,
    firstByteMs: Number.NaN,
    endedMs: Number.NaN,
    status: null,
    stage: null,
    error: null,
    connectionId: 0,
    reuse: 0,
    ageMs: 0,
    closedFirst: null,
    promised: null,
    got: 0,
    copy: null,
    upstream: null,
    uploaded: Number.NaN,
    events: Number.NaN,
    webSocket: null,
    again: 0,
  };
}
