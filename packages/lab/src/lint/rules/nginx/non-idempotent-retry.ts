/** POSTs are sent twice. */

import type { Rule } from "../../finding.ts";
import { find } from "../../parse/nginx.ts";

export const nonIdempotentRetry: Rule = {
  id: "nginx/non-idempotent-retry",
  severity: "warning",
  summary: "proxy_next_upstream repeats requests that are not idempotent.",
  why: "A POST that the first server has already carried out is carried out again.",
  *check(model) {
    for (const file of model.nginx) {
      for (const { directive } of find(file.directives, "proxy_next_upstream")) {
        if (directive.args.includes("non_idempotent")) {
          yield {
            at: directive.at,
            message:
              "A POST cut by a restart is sent to the next server and may run twice. Keep this only with idempotency keys.",
          };
        }
      }
    }
  },
};
