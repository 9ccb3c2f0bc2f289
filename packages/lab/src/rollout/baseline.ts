/** Whether a service answers its routes at all, judged before any copy is touched: a wrong route is no lost request. */

import { LabError } from "../errors.ts";
import type { LedgerRecord } from "../ledger/records.ts";
import type { RolloutPlan } from "../scenario/plan.ts";

const ENOUGH = 3;

function answerOf(record: Extract<LedgerRecord, { kind: "request" }>): string {
  return record.fate === "failed" ? `${record.error} (${record.stage})` : String(record.status);
}

/** Throws `LAB_ROUTE_REFUSED` when not one request of a method has been answered well, and enough were sent. */
export function assertBaseline(plan: RolloutPlan, records: readonly LedgerRecord[]): void {
  for (const method of ["GET", "POST"] as const) {
    const sent = records.filter((record) => record.kind === "request" && record.method === method);
    const answers = sent.flatMap((record) => (record.kind === "request" ? [answerOf(record)] : []));
    const [first] = answers;
    if (
      first !== undefined &&
      answers.length >= ENOUGH &&
      answers.every((answer) => !/^[123]/.test(answer))
    ) {
      const route = method === "GET" ? plan.routes.get : plan.routes.post;
      throw new LabError(
        "LAB_ROUTE_REFUSED",
        `${method} ${route ?? ""} failed ${answers.length} of ${answers.length} times before any copy was told to stop (${first}).`,
        method === "GET"
          ? "Name a route that answers with a status below 400: --get /path."
          : "Name a route and a body that it accepts: --post /path --post-body JSON.",
      );
    }
  }
}
