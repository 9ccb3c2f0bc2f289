/** pm2 sends SIGINT; the service listens for SIGTERM. */

import type { Rule } from "../../finding.ts";

export const pm2Signal: Rule = {
  id: "pkg/pm2-signal",
  severity: "error",
  summary: "pm2 stops with SIGINT and the service handles only SIGTERM.",
  why: "pm2 turns every stop into SIGINT (PM2_KILL_SIGNAL), so the handler for SIGTERM never runs.",
  *check(model) {
    for (const { platform, members, name } of model.workloads) {
      for (const { sources, at, program } of members) {
        const manager = program?.chain.find((link) => link.kind === "runner" && link.role === "pm2");
        const handled = new Set(sources.flatMap(({ signals }) => [...signals]));
        const lastcall = sources.some(({ usesLastcall }) => usesLastcall);
        if (
          (platform === "pm2" || manager !== undefined) &&
          handled.has("SIGTERM") &&
          !handled.has("SIGINT") &&
          !lastcall
        ) {
          yield {
            at: manager?.at ?? at,
            message: `${name} is stopped by pm2 with SIGINT, but its code handles only SIGTERM. Handle both.`,
          };
        }
      }
    }
  },
};
