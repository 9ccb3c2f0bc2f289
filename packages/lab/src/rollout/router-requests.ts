/** The router's access log, joined with the requests of the run: only for those about which somebody will ask. */

import type { LedgerRecord, RequestRecord, RouterRequestRecord } from "../ledger/records.ts";
import type { Router } from "../router/router.ts";

/** From this status on a request has failed. */
const FAILED_FROM = 400;

function isBad(record: RequestRecord): boolean {
  return record.fate === "failed" || (record.status ?? 0) >= FAILED_FROM;
}

/** Nothing where the router keeps no such log. */
export async function joinAccessLog(
  records: readonly LedgerRecord[],
  router: Pick<Router, "accessLog">,
): Promise<readonly RouterRequestRecord[]> {
  const bad = new Set<string>();
  for (const record of records) {
    if (record.kind === "request" && isBad(record)) {
      bad.add(record.id);
    }
  }
  const lines = await router.accessLog((id) => bad.has(id));
  if (lines === null) {
    return [];
  }
  return records.flatMap((record): readonly RouterRequestRecord[] => {
    if (record.kind !== "request") {
      return [];
    }
    const line = lines.get(record.id);
    // No line at all, though something did not go well, says something too.
    return line !== undefined || bad.has(record.id)
      ? [{ kind: "router-request", id: record.id, line: line ?? null }]
      : [];
  });
}
