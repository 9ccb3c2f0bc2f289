/** The load balancer cuts what the service would still finish. */

import type { Rule } from "../../finding.ts";
import { deregistration, podMembers, servedPods } from "../ask.ts";
import { originText, seconds } from "../../time.ts";

export const deregistrationTooShort: Rule = {
  id: "router/deregistration-too-short",
  severity: "warning",
  summary: "The load balancer's deregistration delay is shorter than the graceful timeout.",
  why: "When the delay is over it closes connections, although the service is still answering on them.",
  *check(model) {
    for (const served of servedPods(model)) {
      for (const { ms, at } of deregistration(served.pod, model)) {
        for (const { parts, name } of podMembers(served)) {
          if (parts.graceful !== undefined && parts.chosen && ms < parts.graceful.ms) {
            yield {
              at,
              message: `The load balancer cuts after ${seconds(ms)}; ${name} takes up to ${seconds(parts.graceful.ms)} for its requests (${originText(parts.graceful.origin)}).`,
            };
          }
        }
      }
    }
  },
};
