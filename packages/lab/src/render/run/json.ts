/** A judged run for programs: the verdict as it is, under the schema that docs/report.schema.json describes. */

import type { RunReport } from "../../report/run-report.ts";

export function reportJson(report: RunReport, before: RunReport | null): string {
  const { verdict, warnings, shares } = report;
  return `${JSON.stringify(
    {
      schema: "lastcall.report/1",
      partial: warnings,
      share: shares.places.map(({ name, count, share }) => ({ place: name, requests: count, share })),
      verdict,
      before: before === null ? null : before.verdict,
    },
    null,
    2,
  )}\n`;
}
