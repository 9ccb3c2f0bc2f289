/** What of a run's events a person follows, in some words each. */

import type { LedgerRecord } from "../ledger/records.ts";

/** What of the timeline a person follows. */
export function lineOf(record: LedgerRecord): string | null {
  if (record.kind !== "event") {
    return null;
  }
  const copy = record.copy ?? "";
  switch (record.event) {
    case "load-started":
      return "load runs";
    case "signal":
      return `${copy} gets ${String(record.detail["signal"])}`;
    case "killed":
      return `${copy} does not stop: SIGKILL`;
    case "exited":
      return `${copy} has ended`;
    case "removed":
      return `${copy} is out of rotation`;
    case "added":
      return `${copy} is in rotation`;
    case "ready":
      return `${copy} is ready`;
    default:
      return null;
  }
}
