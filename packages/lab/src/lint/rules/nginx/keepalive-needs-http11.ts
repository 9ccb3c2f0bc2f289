/** Kept connections need HTTP/1.1. */

import type { Rule } from "../../finding.ts";
import { below } from "../../model/settings.ts";
import { passes } from "../upstreams.ts";

export const keepaliveNeedsHttp11: Rule = {
  id: "nginx/keepalive-needs-http11",
  severity: "warning",
  summary: "An upstream has `keepalive`, and requests go there with HTTP/1.0 or `Connection: close`.",
  why: "Before 1.29.7 nginx speaks HTTP/1.0 to upstreams by default, so no connection is ever kept.",
  *check(model) {
    const version = model.settings.nginx;
    for (const file of version !== undefined && below(version, 1, 29, 7) ? model.nginx : []) {
      for (const { pass, target, setting } of passes(file)) {
        const keeps =
          target?.block.block?.some(({ name, args }) => name === "keepalive" && args[0] !== "0") === true;
        const http = setting("proxy_http_version")?.args[0];
        if (keeps && http !== "1.1" && http !== "2") {
          yield {
            at: pass.at,
            message: `${target?.name ?? ""} has keepalive, but this location speaks HTTP/1.0. Add \`proxy_http_version 1.1\` and clear the Connection header.`,
          };
        }
      }
    }
  },
};
