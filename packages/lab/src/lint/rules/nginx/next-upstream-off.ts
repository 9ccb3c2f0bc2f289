/** Retries are turned off. */

import type { Rule } from "../../finding.ts";
import { find } from "../../parse/nginx.ts";
import { upstreams } from "../upstreams.ts";

export const nextUpstreamOff: Rule = {
  id: "nginx/next-upstream-off",
  severity: "warning",
  summary: "proxy_next_upstream is off although there are several servers.",
  why: "A refused connection is the safest of all retries; without it every restart shows as 502.",
  *check(model) {
    for (const file of model.nginx) {
      const several = upstreams(file).some(({ servers }) => servers.length > 1);
      for (const { directive } of several ? find(file.directives, "proxy_next_upstream") : []) {
        if (directive.args[0] === "off") {
          yield {
            at: directive.at,
            message:
              "nginx does not try another server, not even when the connection is refused. Use `error timeout`.",
          };
        }
      }
    }
  },
};
