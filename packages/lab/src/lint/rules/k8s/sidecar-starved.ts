/** A native sidecar for which nothing is left. */

import { appMs, sumLines, worstSum } from "../../budget.ts";
import type { Rule } from "../../finding.ts";
import { seconds } from "../../time.ts";

export const sidecarStarved: Rule = {
  id: "k8s/sidecar-starved",
  severity: "info",
  summary: "The service uses the grace period up, and a native sidecar needs time after it.",
  why: "Sidecars get SIGTERM when the last main container has ended; with no time left SIGKILL follows at once.",
  *check(model) {
    for (const workload of model.workloads) {
      const sum = worstSum(workload);
      for (const { preStop, name, at } of workload.pod?.sidecars ?? []) {
        if (
          sum !== undefined &&
          appMs(sum.member) !== undefined &&
          preStop !== undefined &&
          preStop.ms > sum.slackMs &&
          sum.slackMs >= 0
        ) {
          yield {
            at,
            message: `${name} needs ${seconds(preStop.ms)} after the service; ${seconds(sum.slackMs)} of the grace period is left.`,
            details: sumLines(sum),
          };
        }
      }
    }
  },
};
