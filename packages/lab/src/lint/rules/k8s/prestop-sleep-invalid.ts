/** A sleep action that the API refuses. */

import type { Rule } from "../../finding.ts";
import { graceOf } from "../../model/kubernetes.ts";
import { below } from "../../model/settings.ts";
import { originText, seconds } from "../../time.ts";

export const prestopSleepInvalid: Rule = {
  id: "k8s/prestop-sleep-invalid",
  severity: "error",
  summary: "The preStop sleep is refused by the API or not known to the target version.",
  why: "The API rejects a sleep longer than the grace period; before 1.30 the action is off by default.",
  *check(model) {
    const version = model.settings.kubernetes;
    for (const pod of model.pods) {
      const grace = graceOf(pod);
      for (const { preStop } of [...pod.containers, ...pod.sidecars]) {
        if (preStop?.kind !== "sleep") {
          continue;
        }
        if (preStop.ms > grace.ms || preStop.ms < 0) {
          yield {
            at: preStop.at,
            message: `The API refuses a sleep of ${seconds(preStop.ms)}: the grace period is ${seconds(grace.ms)} (${originText(grace.origin)}).`,
          };
        } else if (version !== undefined && below(version, 1, 30)) {
          yield {
            at: preStop.at,
            message: `Kubernetes ${version.slice(0, 2).join(".")} has no sleep action by default (1.30 has). Use exec with sleep.`,
          };
        }
      }
    }
  },
};
