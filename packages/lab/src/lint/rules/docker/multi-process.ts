/** Several services in one container. */

import type { Rule } from "../../finding.ts";

export const multiProcess: Rule = {
  id: "docker/multi-process",
  severity: "warning",
  summary: "One container runs several services under a runner.",
  why: "One stop signal, one grace period and one exit code stand for all of them; the runner decides who learns of it.",
  *check(model) {
    for (const { chain, platform } of model.programs) {
      for (const link of platform === "systemd" || platform === "supervisor" ? [] : chain) {
        if (link.kind === "runner" && (link.role === "multi" || link.role === "supervisor")) {
          yield {
            at: link.at,
            message: `${link.name} runs several programs in one container. Give each its own, or check how it stops them.`,
          };
        }
      }
    }
  },
};
