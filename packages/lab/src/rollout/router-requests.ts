/** The router's access log, joined with the requests of the run: only for those about which somebody will ask. */

import type { LedgerRecord, RouterLine, RouterRequestRecord } from "../ledger/records.ts";

/** From this status on a request has failed. */
const FAILED_FROM = 400;

/** Nothing where the router keeps no such log (null). */
export function joinAccessLog(
  records: readonly LedgerRecord[],
  lines: ReadonlyMap<string, RouterLine> | null,
): readonly RouterRequestRecord[] {
  if (lines === null) {
    return [];
  }
  return records.flatMap((record): readonly RouterRequestRecord[] => {
    if (record.kind !== "request") {
      return [];
    }
    const line = lines.get(record.id) ?? null;
    const bad = record.fate === "failed" || (record.status ?? 0) >= FAILED_FROM;
    // A line that says more than that all went well, or none at all though something did not.
    const tells = line !== null && (line.retries > 0 || line.class !== null);
    return bad || tells ? [{ kind: "router-request", id: record.id, line }] : [];
  });
}
