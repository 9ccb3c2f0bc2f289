/** Old workers live as long as their slowest connection. */

import type { Rule } from "../../finding.ts";
import { find } from "../../parse/nginx.ts";
import { isMain } from "../upstreams.ts";

export const noWorkerShutdownTimeout: Rule = {
  id: "nginx/no-worker-shutdown-timeout",
  severity: "info",
  summary: "nginx has no worker_shutdown_timeout.",
  why: "A graceful stop waits for every connection without a limit; SIGKILL then is the limit.",
  *check(model) {
    for (const file of model.nginx.filter((one) => isMain(one))) {
      const proxies = [...find(file.directives, "proxy_pass")].length > 0;
      const [first] = file.directives;
      if (
        proxies &&
        first !== undefined &&
        [...find(file.directives, "worker_shutdown_timeout")].length === 0
      ) {
        yield {
          at: first.at,
          message:
            "After SIGQUIT or a reload old workers stay until their last connection ends. Set worker_shutdown_timeout below the grace period.",
        };
      }
    }
  },
};
