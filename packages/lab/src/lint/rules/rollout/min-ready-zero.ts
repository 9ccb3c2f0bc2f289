/** New copies count before the load balancer knows them. */

import type { Rule } from "../../finding.ts";
import { get, items, number } from "../../parse/tree.ts";
import { podMembers, podTargeting, servedPods } from "../ask.ts";

export const minReadyZero: Rule = {
  id: "rollout/min-ready-zero",
  severity: "info",
  summary: "A load balancer sends straight to pods, and new ones count as available at once.",
  why: "Old pods are stopped while the load balancer still checks the new ones: use readiness gates or minReadySeconds.",
  *check(model) {
    for (const served of servedPods(model)) {
      const { pod } = served;
      const gates = items(get(pod.spec, "readinessGates")).length > 0;
      const value = get(pod.object.tree, "spec", "minReadySeconds");
      const ready = podMembers(served).every(({ container }) => container?.readiness !== undefined);
      if (
        pod.object.kind === "Deployment" &&
        podTargeting(pod).length > 0 &&
        !gates &&
        ready &&
        (number(value) ?? 0) === 0
      ) {
        yield {
          at: value?.at ?? pod.object.at,
          message: `${pod.object.name} has no minReadySeconds: the rollout goes on before the load balancer has taken the new pods in.`,
        };
      }
    }
  },
};
