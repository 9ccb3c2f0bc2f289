/** The sum of what is spent is more than the time until SIGKILL. */

import { appMs, sumLines, worstSum } from "../../budget.ts";
import type { Rule } from "../../finding.ts";
import { seconds } from "../../time.ts";

export const exceedsGrace: Rule = {
  id: "budget/exceeds-grace",
  severity: "error",
  summary: "The service needs longer to stop than the platform gives it.",
  why: "What is still running when the time is over gets SIGKILL, in the middle of its work.",
  *check(model) {
    for (const workload of model.workloads) {
      const sum = worstSum(workload);
      if (sum === undefined || sum.timer.ms === 0 || appMs(sum.member) === undefined) {
        continue;
      }
      const hook = sum.member.container?.preStop?.ms ?? 0;
      if (sum.sumMs > sum.timer.ms && hook < sum.timer.ms) {
        yield {
          at: sum.timer.at,
          message: `${workload.name} needs ${sum.complete ? "" : "at least "}${seconds(sum.sumMs)} to stop; ${sum.timer.name} gives ${seconds(sum.timer.ms)}.`,
          details: sumLines(sum),
        };
      }
    }
  },
};
