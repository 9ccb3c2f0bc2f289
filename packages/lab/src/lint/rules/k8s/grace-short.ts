/** A served pod with hardly any time. */

import { worstSum } from "../../budget.ts";
import type { Rule } from "../../finding.ts";
import { servedPods } from "../ask.ts";

export const graceShort: Rule = {
  id: "k8s/grace-short",
  severity: "warning",
  summary: "A pod that clients reach has a grace period under 10 s.",
  why: "Endpoint removal alone takes seconds; what is left does not let requests finish.",
  *check(model) {
    for (const { pod, workload } of servedPods(model)) {
      const { grace, graceAt } = pod;
      const sum = worstSum(workload);
      const fits = sum !== undefined && sum.complete && sum.slackMs >= sum.marginMs;
      if (
        grace !== undefined &&
        graceAt !== undefined &&
        grace > 0 &&
        grace < 10 &&
        pod.object.kind !== "DaemonSet" &&
        !fits
      ) {
        yield {
          at: graceAt,
          message: `${grace} s is short for a service behind routers: the default is 30 s.`,
        };
      }
    }
  },
};
