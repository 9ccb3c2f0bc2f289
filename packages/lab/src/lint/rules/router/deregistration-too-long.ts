/** A deregistration delay that outlives the pod. */

import type { Rule } from "../../finding.ts";
import { graceOf } from "../../model/kubernetes.ts";
import { deregistration, servedPods } from "../ask.ts";
import { originText, seconds } from "../../time.ts";

export const deregistrationTooLong: Rule = {
  id: "router/deregistration-too-long",
  severity: "info",
  summary: "The load balancer's deregistration delay is longer than the pod lives.",
  why: "Harmless for idle connections; one that is still in use when the pod ends gets a 5xx.",
  *check(model) {
    for (const { pod } of servedPods(model)) {
      const grace = graceOf(pod);
      for (const { ms, at } of deregistration(pod, model)) {
        if (ms > grace.ms) {
          yield {
            at,
            message: `The delay is ${seconds(ms)}, and the pod is gone after ${seconds(grace.ms)} (${originText(grace.origin)}).`,
          };
        }
      }
    }
  },
};
