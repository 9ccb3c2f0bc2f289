/** A budget that allows nothing. */

import type { Rule } from "../../finding.ts";
import type { K8sObject, Pod } from "../../model/kubernetes.ts";
import { get, text } from "../../parse/tree.ts";
import { pctOrInt } from "../ask.ts";

export const pdbBlocks: Rule = {
  id: "rollout/pdb-blocks",
  severity: "warning",
  summary: "A PodDisruptionBudget allows no eviction at all.",
  why: "Node drains hang until somebody deletes the pods by hand, often with force, which skips the grace period.",
  *check(model) {
    const byBudget = new Map<K8sObject, Pod[]>();
    for (const pod of model.pods) {
      for (const budget of pod.budgets) {
        byBudget.set(budget, [...(byBudget.get(budget) ?? []), pod]);
      }
    }
    for (const object of model.objects.filter(({ kind }) => kind === "PodDisruptionBudget")) {
      const most = get(object.tree, "spec", "maxUnavailable");
      const least = get(object.tree, "spec", "minAvailable");
      const none = pctOrInt(most);
      const all = pctOrInt(least);
      const covered = byBudget.get(object) ?? [];
      const replicas =
        covered.length === 1 && covered[0]?.autoscaler === undefined ? covered[0]?.replicas : undefined;
      const blocks =
        all.percent === 100 ||
        (all.count !== undefined && replicas !== undefined && replicas > 0 && all.count >= replicas);
      if (most !== undefined && (none.count === 0 || none.percent === 0)) {
        yield {
          at: most.at,
          message: `${object.name} allows no pod to be evicted: a node drain waits for ever.`,
        };
      } else if (least !== undefined && blocks) {
        yield {
          at: least.at,
          message: `${object.name} wants ${text(least) ?? ""} of ${replicas ?? "all"} pods at all times: a node drain waits for ever.`,
        };
      }
    }
  },
};
