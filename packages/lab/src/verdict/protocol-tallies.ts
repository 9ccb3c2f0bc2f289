/** Counts of what was asked for by HTTP/2 and over WebSockets, request by request. */

import type { RequestRecord, WebSocketTold } from "../ledger/records.ts";
import type { Http2Verdict, WebSocketVerdict } from "./verdict.ts";

type Counting<T> = { -readonly [Key in keyof T]: T[Key] };
export type Http2Tally = Counting<Http2Verdict>;
export type WebSocketTally = Counting<Omit<WebSocketVerdict, "closeCodes">> & {
  readonly closeCodes: Record<string, number>;
};

export function noHttp2(): Http2Tally {
  return { sent: 0, failed: 0, refused: 0 };
}

export function countHttp2(tally: Http2Tally, { fate, error }: RequestRecord): void {
  tally.sent += 1;
  tally.failed += fate === "failed" ? 1 : 0;
  tally.refused += error === "REFUSED_STREAM" ? 1 : 0;
}

export function noWebSockets(): WebSocketTally {
  return {
    asked: 0,
    opened: 0,
    cameBack: 0,
    cut: 0,
    closeCodes: {},
    messages: 0,
    answered: 0,
    crossed: 0,
    unanswered: 0,
  };
}

export function countWebSocket(
  tally: WebSocketTally,
  { id, error, status }: RequestRecord,
  told: WebSocketTold,
): void {
  tally.asked += 1;
  tally.opened += status === 101 ? 1 : 0;
  // `r1-000042-again1`: the client of r1-000042.
  tally.cameBack += /-again\d+$/.test(id) ? 1 : 0;
  tally.cut += status === 101 && error !== null && told.closeCode === null && error !== "UNANSWERED" ? 1 : 0;
  if (told.closeCode !== null) {
    tally.closeCodes[told.closeCode] = (tally.closeCodes[told.closeCode] ?? 0) + 1;
  }
  tally.messages += told.sent;
  tally.answered += told.answered;
  tally.crossed += told.crossed;
  tally.unanswered += told.sent - told.answered - told.crossed;
}
