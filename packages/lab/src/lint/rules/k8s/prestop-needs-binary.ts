/** A hook that calls a program which the image does not have. */

import type { Rule } from "../../finding.ts";
import { baseName } from "../../model/runners.ts";
import type { Image } from "../../model/workload.ts";

export const prestopNeedsBinary: Rule = {
  id: "k8s/prestop-needs-binary",
  severity: "error",
  summary: "The preStop hook calls a program that a minimal image does not have.",
  why: "The hook fails at once (FailedPreStopHook) and SIGTERM follows without the wait.",
  *check(model) {
    for (const { members } of model.workloads) {
      for (const { container, facts, image } of members) {
        const hook = container?.preStop;
        const name = baseName(hook?.words[0]?.text ?? "");
        if (
          hook?.kind === "exec" &&
          facts.minimal &&
          TOOLS.has(name) &&
          !(image !== undefined && bringsTools(image))
        ) {
          yield {
            at: hook.at,
            message: `${facts.reference} has no ${name}, so the hook fails and nothing waits. Use the sleep action (Kubernetes 1.30).`,
          };
        }
      }
    }
  },
};

const TOOLS = new Set("sh bash ash sleep curl wget nc".split(" "));

/** A COPY that may bring a static busybox or sleep. */
function bringsTools(image: Image): boolean {
  return image.dockerfile.stages.some(({ instructions }) =>
    instructions.some(
      ({ keyword, text }) => keyword === "COPY" && /busybox|sleep|\/bin\b|curl|wget/.test(text),
    ),
  );
}
