/** A rolling update that may take everything down. */

import type { Rule } from "../../finding.ts";
import { get, text } from "../../parse/tree.ts";
import { pctOrInt, servedPods } from "../ask.ts";

export const maxUnavailableAll: Rule = {
  id: "rollout/max-unavailable-all",
  severity: "error",
  summary: "maxUnavailable allows all copies to be down at once.",
  why: "The rollout then stops every old pod before a new one is ready.",
  *check(model) {
    for (const { pod } of servedPods(model)) {
      const value = get(pod.object.tree, "spec", "strategy", "rollingUpdate", "maxUnavailable");
      const { count, percent } = pctOrInt(value);
      const all =
        (percent ?? 0) >= 100 ||
        (count !== undefined &&
          pod.replicas !== undefined &&
          pod.replicas > 1 &&
          count >= pod.replicas &&
          pod.autoscaler === undefined);
      if (value !== undefined && all) {
        yield {
          at: value.at,
          message: `maxUnavailable: ${text(value) ?? ""} lets a rollout take all copies of ${pod.object.name} down at once.`,
        };
      }
    }
  },
};
