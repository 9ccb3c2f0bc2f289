/** A name that is looked up once. */

import type { Rule } from "../../finding.ts";
import { upstreams } from "../upstreams.ts";

export const staticUpstreamDns: Rule = {
  id: "nginx/static-upstream-dns",
  severity: "info",
  summary: "An upstream names a container or Service and is resolved only when nginx starts.",
  why: "A recreated container has a new address; nginx goes on with the old one until it is reloaded.",
  *check(model) {
    for (const file of model.nginx) {
      const router = model.routers.find(({ path }) => path === file.source.path);
      const names = new Set(router?.workloads.flatMap(({ service }) => service?.name ?? []));
      for (const { servers, block } of upstreams(file)) {
        for (const server of servers) {
          const host = (server.args[0] ?? "").replace(/:\d+$/, "");
          const resolves =
            server.args.includes("resolve") || block.block?.some(({ name }) => name === "resolver") === true;
          if ((names.has(host) || /\.svc(\.[\w.-]+)?$/.test(host)) && !resolves) {
            yield {
              at: server.at,
              message: `${host} is resolved once, at the start of nginx. Use \`resolve\` with a resolver (1.27.3), or reload nginx after a deploy.`,
            };
          }
        }
      }
    }
  },
};
