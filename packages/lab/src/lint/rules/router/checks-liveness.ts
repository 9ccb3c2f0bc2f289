/** A router that asks the wrong question. */

import type { Rule } from "../../finding.ts";
import { keyAt } from "../../parse/tree.ts";
import { albIngresses, podMembers, servedPods } from "../ask.ts";

export const checksLiveness: Rule = {
  id: "router/checks-liveness",
  severity: "warning",
  summary: "The router's health check asks the liveness path while a readiness path exists.",
  why: "Liveness stays green in a drain: the router never learns of it.",
  *check(model) {
    for (const served of servedPods(model)) {
      for (const ingress of albIngresses(served.pod)) {
        const key = "alb.ingress.kubernetes.io/healthcheck-path";
        const path = ingress.annotations.get(key);
        for (const { container } of podMembers(served)) {
          const ready = container?.readiness?.path;
          const live = container?.liveness?.path;
          if (path !== undefined && live === path && ready !== undefined && ready !== path) {
            yield {
              at: keyAt(ingress.tree, "metadata", "annotations", key) ?? ingress.at,
              message: `The load balancer asks ${path}, the liveness path; readiness is ${ready}.`,
            };
          }
        }
      }
    }
    for (const file of model.haproxy) {
      for (const { lines } of file.sections) {
        for (const { words, at } of lines) {
          const path =
            words[0] === "option" && words[1] === "httpchk"
              ? words.find((word) => word.startsWith("/"))
              : undefined;
          if (path !== undefined && /^\/(livez|live|liveness|health\/live|healthz\/live)$/.test(path)) {
            yield {
              at,
              message: `HAProxy asks ${path}, which stays green in a drain. Ask the readiness path.`,
            };
          }
        }
      }
    }
  },
};
