/** Retries go to the server that has just refused. */

import type { Rule } from "../../finding.ts";
import { backends, hasOption, modeOf } from "../backends.ts";

export const noRedispatch: Rule = {
  id: "haproxy/no-redispatch",
  severity: "info",
  summary: "Retries stay with the same server.",
  why: "Without `option redispatch` a refused connection is tried again on the server that refused it.",
  *check(model) {
    for (const file of model.haproxy) {
      for (const backend of backends(file)) {
        const off = hasOption(backend, "retries")?.words[1] === "0";
        if (
          backend.servers.length > 1 &&
          modeOf(backend) === "http" &&
          !off &&
          hasOption(backend, "option", "redispatch") === undefined
        ) {
          yield {
            at: backend.section.at,
            message: `${backend.section.name || "This section"} has no \`option redispatch\`: the last try should go to another server.`,
          };
        }
      }
    }
  },
};
