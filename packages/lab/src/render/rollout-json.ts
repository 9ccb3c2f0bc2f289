/** The report of a rolling restart for machines: one JSON document with a schema version. */

import type { ExitCode } from "../exit-codes.ts";
import type { Row } from "../rollout/row.ts";

export function rolloutJson(rows: readonly Row[], exitCode: ExitCode): string {
  const document = {
    schema: "lastcall.rollout/1",
    exitCode,
    rows: rows.map(({ plan, verdict, counts, shown, why, routerLost, folder }) => ({
      scenario: plan.scenario,
      title: plan.title,
      mustShow: plan.mustShow,
      judgedStrictly: plan.expectation === null,
      shown,
      why,
      sent: verdict.requests.sent,
      ...counts,
      slowestMs: verdict.latency.max,
      routerLost,
      folder,
      verdict,
    })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
