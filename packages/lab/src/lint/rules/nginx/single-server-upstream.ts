/** An upstream without an alternative. */

import type { Rule } from "../../finding.ts";
import { upstreams } from "../upstreams.ts";

export const singleServerUpstream: Rule = {
  id: "nginx/single-server-upstream",
  severity: "info",
  summary: "An upstream has one server, so nginx has nowhere else to go.",
  why: "With one server max_fails and fail_timeout are ignored, and no request is tried again.",
  *check(model) {
    for (const file of model.nginx) {
      for (const { name, servers } of upstreams(file)) {
        const [only] = servers;
        // A name may stand for several addresses; only one address is certainly one server.
        if (
          servers.length === 1 &&
          only !== undefined &&
          /^(unix:|localhost\b|\d+\.\d+\.\d+\.\d+|\[)/.test(only.args[0] ?? "")
        ) {
          yield {
            at: only.at,
            message: `${name} has one server: while it restarts, every request fails with 502.`,
          };
        }
      }
    }
  },
};
