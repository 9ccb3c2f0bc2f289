/** A development runner as the main process. */

import type { Rule } from "../../finding.ts";

export const devRunner: Rule = {
  id: "docker/dev-runner",
  severity: "warning",
  summary: "A development runner (nodemon, --watch, flask run) starts the service.",
  why: "Runners leave before the service they watch: nodemon exits about 100 ms after SIGTERM and the service is killed.",
  *check(model) {
    for (const { chain, platform } of model.programs) {
      for (const link of chain) {
        if (link.kind === "runner" && link.role === "dev") {
          yield {
            at: link.at,
            severity: platform === "compose" ? "info" : "warning",
            message: `${link.name} is for development: it does not wait for the service to finish. Start the program itself.`,
          };
        }
      }
    }
  },
};
