/** The report of a rolling restart for machines: one JSON document with a schema version. */

import type { ExitCode } from "../exit-codes.ts";
import { platformAdvice } from "../rollout/platform-words.ts";
import type { Row } from "../rollout/row.ts";

/** `platform`: what Docker Swarm has to show beyond the verdict. */
export function rolloutJson(
  rows: readonly Row[],
  exitCode: ExitCode,
  platform: readonly string[] = [],
): string {
  const document = {
    schema: "lastcall.rollout/1",
    exitCode,
    ...(platform.length === 0 ? {} : { platform }),
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
      explain: verdict.trials,
      controls: verdict.controls,
      platform: plan.platform === null ? null : platformAdvice(verdict, plan.platform),
      verdict,
    })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
