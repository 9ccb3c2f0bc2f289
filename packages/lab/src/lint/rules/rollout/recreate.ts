/** All copies stop before the first new one starts. */

import type { Rule } from "../../finding.ts";
import type { Pod } from "../../model/kubernetes.ts";
import { get, items, text } from "../../parse/tree.ts";
import { servedPods } from "../ask.ts";

export const recreate: Rule = {
  id: "rollout/recreate",
  severity: "warning",
  summary: "A Deployment behind a Service is recreated on every rollout.",
  why: "Recreate stops all old pods first: nobody answers until the new ones are ready.",
  *check(model) {
    for (const { pod } of servedPods(model)) {
      const value = get(pod.object.tree, "spec", "strategy", "type");
      if (
        pod.object.kind === "Deployment" &&
        value !== undefined &&
        text(value) === "Recreate" &&
        !hasOwnVolume(pod)
      ) {
        const several = pod.replicas !== undefined && pod.replicas > 1;
        yield {
          at: value.at,
          severity: several ? "warning" : "info",
          message: `Every rollout of ${pod.object.name} is an outage: Recreate stops all pods before new ones start.`,
        };
      }
    }
  },
};

/** A claim may be held by one pod at a time: then recreating is the only way. */
function hasOwnVolume(pod: Pod): boolean {
  return items(get(pod.spec, "volumes")).some((volume) => get(volume, "persistentVolumeClaim") !== undefined);
}
