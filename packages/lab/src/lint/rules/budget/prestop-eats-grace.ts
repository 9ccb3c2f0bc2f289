/** The preStop hook takes the whole grace period: the service keeps the kubelet's minimum of 2 s. */

import type { Rule } from "../../finding.ts";
import { graceOf, type Pod } from "../../model/kubernetes.ts";
import type { Model } from "../../model/model.ts";
import type { Workload } from "../../model/workload.ts";
import { originText, seconds } from "../../time.ts";

export const prestopEatsGrace: Rule = {
  id: "budget/prestop-eats-grace",
  severity: "error",
  summary: "The preStop hook takes as long as the whole grace period.",
  why: "The grace period runs from before the hook; afterwards the kubelet sends SIGTERM and leaves 2 s.",
  *check(model) {
    for (const { workload, pod } of podWorkloads(model)) {
      const grace = graceOf(pod);
      for (const { preStop } of pod.containers) {
        const rejected = preStop?.kind === "sleep" && preStop.ms > grace.ms;
        if (preStop !== undefined && grace.ms > 0 && preStop.ms >= grace.ms && !rejected) {
          yield {
            at: preStop.at,
            message: `The preStop hook takes ${seconds(preStop.ms)} of ${seconds(grace.ms)}; ${workload.name} gets SIGTERM with 2 s left.`,
            details: [`${seconds(grace.ms)} is ${originText(grace.origin)}`],
          };
        }
      }
    }
  },
};

function* podWorkloads(model: Model): Iterable<{ workload: Workload; pod: Pod }> {
  for (const workload of model.workloads) {
    if (workload.pod !== undefined) {
      yield { workload, pod: workload.pod };
    }
  }
}
