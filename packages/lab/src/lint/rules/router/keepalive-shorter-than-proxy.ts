/** The service closes idle connections that the proxy wants to use again. */

import type { Rule } from "../../finding.ts";
import { albIngresses, podMembers, servedPods } from "../ask.ts";
import { seconds } from "../../time.ts";

export const keepaliveShorterThanProxy: Rule = {
  id: "router/keepalive-shorter-than-proxy",
  severity: "warning",
  summary: "The service's keep-alive timeout is not longer than the load balancer's idle timeout.",
  why: "The proxy sends on a connection that the service is just closing: a reset, most often when few requests come.",
  *check(model) {
    for (const served of servedPods(model)) {
      const [ingress] = albIngresses(served.pod);
      if (ingress === undefined) {
        continue;
      }
      const attributes = ingress.annotations.get("alb.ingress.kubernetes.io/load-balancer-attributes") ?? "";
      const idle = Number(/idle_timeout\.timeout_seconds=(\d+)/.exec(attributes)?.[1] ?? 60) * 1000;
      for (const { sources, name } of podMembers(served)) {
        for (const { keepAlive } of sources) {
          if (keepAlive?.origin.kind === "file" && keepAlive.ms <= idle) {
            yield {
              at: keepAlive.origin.at,
              message: `${name} closes idle connections after ${seconds(keepAlive.ms)}; the load balancer keeps them for ${seconds(idle)}. Make it longer than that.`,
              related: [{ message: "the load balancer", at: ingress.at }],
            };
          }
        }
      }
    }
  },
};
