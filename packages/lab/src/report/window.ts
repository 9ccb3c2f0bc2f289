/** The stretch of time that a report shows: from the start of the load to the end of its last request. Its start is time zero. */

import type { RunMs } from "../ledger/records.ts";
import { COLUMN } from "../verdict/request-table.ts";
import type { Judged } from "../verdict/judge.ts";

export interface Window {
  readonly fromMs: RunMs;
  readonly toMs: RunMs;
}

export function windowOf({ verdict, timeline, requests }: Judged): Window {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (let row = 0; row < requests.length; row += 1) {
    first = Math.min(first, requests.value(row, COLUMN.intendedMs));
    last = Math.max(last, requests.value(row, COLUMN.endedMs));
  }
  const started = verdict.timeline.find(({ event }) => event === "load-started")?.atMs;
  const fromMs = Math.min(started ?? Number.POSITIVE_INFINITY, first);
  const from = Number.isFinite(fromMs) ? fromMs : 0;
  const exits = timeline.restarts.map(({ life }) => life.exitMs ?? life.signalMs);
  const to = Math.max(last, timeline.loadEndedMs ?? 0, ...exits);
  // Never empty: a run that sent nothing has a picture too.
  return { fromMs: from, toMs: Math.max(to, from + 100) };
}
