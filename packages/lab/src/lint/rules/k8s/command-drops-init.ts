/** A pod's command replaces an image's entrypoint that was an init. */

import type { Rule } from "../../finding.ts";
import { get, truth } from "../../parse/tree.ts";

export const commandDropsInit: Rule = {
  id: "k8s/command-drops-init",
  severity: "warning",
  summary: "The pod's command replaces the image's ENTRYPOINT and with it its init.",
  why: "The image was built to run under tini or dumb-init; `command:` replaces the whole ENTRYPOINT.",
  *check(model) {
    for (const { pod, members } of model.workloads) {
      const shared = truth(get(pod?.spec, "shareProcessNamespace")) === true;
      for (const { container, image, program } of pod === undefined || shared ? [] : members) {
        const init = image?.program?.chain[0];
        if (container?.command !== undefined && init?.kind === "init" && program?.chain[0]?.kind !== "init") {
          yield {
            at: container.command[0]?.at ?? container.at,
            message: `command replaces the image's ENTRYPOINT, so ${init.name} no longer runs. Use args, or name ${init.name} again.`,
            related: [{ message: "the ENTRYPOINT", at: init.at }],
          };
        }
      }
    }
  },
};
