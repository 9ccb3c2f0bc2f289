/** The sum fits, with almost nothing left. */

import { sumLines, worstSum } from "../../budget.ts";
import type { Rule } from "../../finding.ts";
import { seconds } from "../../time.ts";

export const thinMargin: Rule = {
  id: "budget/thin-margin",
  severity: "warning",
  summary: "The parts fit the grace period with less than 2 s or a tenth of it to spare.",
  why: "Timers start late and processes take time to leave: a sum that fits exactly does not fit.",
  *check(model) {
    for (const workload of model.workloads) {
      const sum = worstSum(workload);
      if (
        sum === undefined ||
        sum.items.length === 0 ||
        sum.timer.ms === 0 ||
        !Number.isFinite(sum.timer.ms)
      ) {
        continue;
      }
      // The library keeps a reserve inside its own grace period, and the API refuses or another rule reports the rest.
      const reported =
        sum.member.parts.whole !== undefined || (sum.member.container?.preStop?.ms ?? 0) >= sum.timer.ms;
      if (!reported && sum.slackMs >= 0 && sum.slackMs < sum.marginMs) {
        yield {
          at: sum.timer.at,
          severity: sum.member.parts.chosen ? "warning" : "info",
          message: `${workload.name} spends ${sum.complete ? "" : "at least "}${seconds(sum.sumMs)} of ${seconds(sum.timer.ms)}; leave ${seconds(sum.marginMs)}.`,
          details: sumLines(sum),
        };
      }
    }
  },
};
