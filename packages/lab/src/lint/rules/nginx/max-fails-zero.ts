/** Failures are not counted. */

import type { Rule } from "../../finding.ts";
import { upstreams } from "../upstreams.ts";

export const maxFailsZero: Rule = {
  id: "nginx/max-fails-zero",
  severity: "warning",
  summary: "max_fails=0 keeps a stopped server in rotation.",
  why: "Every request goes on trying the server that is down before it moves on.",
  *check(model) {
    for (const file of model.nginx) {
      for (const { servers } of upstreams(file)) {
        for (const server of servers.length > 1 ? servers : []) {
          if (server.args.includes("max_fails=0")) {
            yield {
              at: server.at,
              message: `${server.args[0] ?? ""} is never marked as failed, so each request pays for it while it restarts.`,
            };
          }
        }
      }
    }
  },
};
