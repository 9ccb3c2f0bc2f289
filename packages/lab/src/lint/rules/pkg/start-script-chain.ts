/** Package scripts that start package scripts. */

import type { Rule } from "../../finding.ts";

export const startScriptChain: Rule = {
  id: "pkg/start-script-chain",
  severity: "warning",
  summary: "The start script starts another script through the package manager.",
  why: "Each step adds a package manager and a shell, and each of them may keep the signal.",
  *check(model) {
    for (const { chain, platform } of model.programs) {
      const managers = chain.filter((link) => link.kind === "package-manager");
      const second = managers[1];
      if (second !== undefined && platform !== "pm2") {
        yield {
          at: second.at,
          message: `${managers.length} package managers stand between the signal and the service. Start the program directly.`,
        };
      }
    }
  },
};
