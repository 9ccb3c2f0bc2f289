/** The service closes idle connections that the proxy wants to use again. */

import type { Rule } from "../../finding.ts";
import type { Model } from "../../model/model.ts";
import { below } from "../../model/settings.ts";
import type { Member } from "../../model/workload.ts";
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
      for (const member of podMembers(served)) {
        const { sources, name } = member;
        if (idle >= NODE_DEFAULT_MS && usesNodesDefault(member, model)) {
          yield {
            at: member.at,
            message: `Node closes idle connections after ${seconds(NODE_DEFAULT_MS)}, its default; the load balancer keeps them for ${seconds(idle)}. Set server.keepAliveTimeout above that.`,
            related: [{ message: "the load balancer", at: ingress.at }],
          };
        }
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

const NODE_DEFAULT_MS = 5000;

/** Frameworks that set a longer one themselves. */
const FRAMEWORKS = ["fastify", "@nestjs/platform-fastify", "next", "nuxt", "@hapi/hapi"];

/** Plain Node of a version whose default is known to be 5 s, with its source at hand and nothing in it that sets another. */
function usesNodesDefault({ image, sources }: Member, { settings }: Model): boolean {
  return (
    settings.node !== undefined &&
    below(settings.node, 25) &&
    image?.entry !== undefined &&
    !/keepAliveTimeout/.test(image.entry.text) &&
    sources.every(({ keepAlive }) => keepAlive === undefined) &&
    !FRAMEWORKS.some((name) => image.packageJson?.dependencies.has(name))
  );
}
