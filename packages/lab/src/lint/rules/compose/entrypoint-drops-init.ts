/** A Compose entrypoint replaces an image's entrypoint that was an init. */

import type { Rule } from "../../finding.ts";

export const entrypointDropsInit: Rule = {
  id: "compose/entrypoint-drops-init",
  severity: "warning",
  summary: "The service's entrypoint replaces the image's ENTRYPOINT and with it its init.",
  why: "A non-empty `entrypoint` replaces ENTRYPOINT and CMD; `init: true` brings an init back.",
  *check(model) {
    for (const { service, members } of model.workloads) {
      for (const { image, program } of service?.entrypoint === undefined ? [] : members) {
        const init = image?.program?.chain[0];
        if (init?.kind === "init" && program !== undefined && program.chain[0]?.kind !== "init") {
          yield {
            at: program.at,
            message: `entrypoint replaces the image's ENTRYPOINT, so ${init.name} no longer runs. Use command, or set init: true.`,
            related: [{ message: "the ENTRYPOINT", at: init.at }],
          };
        }
      }
    }
  },
};
