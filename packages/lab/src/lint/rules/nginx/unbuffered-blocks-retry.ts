/** Bodies that cannot be sent again. */

import type { Rule } from "../../finding.ts";
import { passes } from "../upstreams.ts";

export const unbufferedBlocksRetry: Rule = {
  id: "nginx/unbuffered-blocks-retry",
  severity: "info",
  summary: "Requests with a body are not buffered, so they cannot be tried on another server.",
  why: "Once nginx has begun to send the body it has nothing left to send again.",
  *check(model) {
    for (const file of model.nginx) {
      for (const { target, setting } of passes(file)) {
        const set = setting("proxy_request_buffering");
        if (set?.args[0] === "off" && target !== undefined && target.servers.length > 1) {
          yield {
            at: set.at,
            message: `Uploads to ${target.name} fail when a server restarts: without buffering there is no second try.`,
          };
        }
      }
    }
  },
};
