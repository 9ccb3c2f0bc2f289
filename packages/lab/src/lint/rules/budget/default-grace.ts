/** The service's budget is known, and a default that nobody wrote down holds it up. */

import { appMs, sumLines, worstSum } from "../../budget.ts";
import type { Rule } from "../../finding.ts";
import { seconds } from "../../time.ts";

export const defaultGrace: Rule = {
  id: "budget/default-grace",
  severity: "info",
  summary: "The budget is known but the grace period is left to the platform's default.",
  why: "Defaults differ (Kubernetes 30 s, Compose 10 s, systemd 90 s): the same service fits here and is killed there.",
  *check(model) {
    for (const workload of model.workloads) {
      const sum = worstSum(workload);
      if (sum === undefined || sum.timer.origin.kind !== "default" || !sum.member.parts.chosen) {
        continue;
      }
      const app = appMs(sum.member);
      if (app !== undefined && sum.slackMs >= sum.marginMs && sum.slackMs < sum.timer.ms / 2) {
        yield {
          at: sum.timer.at,
          message: `${workload.name} relies on the default of ${seconds(sum.timer.ms)} (${sum.timer.name}) and uses ${seconds(sum.sumMs)} of it. Write it down.`,
          details: sumLines(sum),
        };
      }
    }
  },
};
