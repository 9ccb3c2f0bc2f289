/** One workload without what its neighbours have. */

import type { Rule } from "../../finding.ts";
import { servedPods } from "../ask.ts";

export const pdbMissing: Rule = {
  id: "rollout/pdb-missing",
  severity: "info",
  summary: "A replicated workload has no PodDisruptionBudget, although others here have one.",
  why: "A node drain may evict all its copies at once.",
  *check(model) {
    const used = new Set(
      model.objects.filter(({ kind }) => kind === "PodDisruptionBudget").map(({ namespace }) => namespace),
    );
    for (const { pod } of servedPods(model)) {
      const { object, replicas, budgets } = pod;
      if (
        object.kind !== "DaemonSet" &&
        used.has(object.namespace) &&
        replicas !== undefined &&
        replicas > 1 &&
        budgets.length === 0
      ) {
        yield {
          at: object.at,
          message: `${object.name} has ${replicas} replicas and no PodDisruptionBudget.`,
        };
      }
    }
  },
};
