/** A health check that Kubernetes does not read. */

import type { Rule } from "../../finding.ts";

export const imageHealthcheckOnly: Rule = {
  id: "probe/image-healthcheck-only",
  severity: "info",
  summary: "The image has a HEALTHCHECK and the pod has no probe.",
  why: "Kubernetes ignores HEALTHCHECK: nothing checks this container.",
  *check(model) {
    for (const { members } of model.workloads) {
      for (const { container, image } of members) {
        const check = image?.healthcheck;
        const probed = container?.readiness ?? container?.liveness ?? container?.startup;
        if (
          container !== undefined &&
          check !== undefined &&
          !/^\s*NONE/i.test(check.text) &&
          probed === undefined
        ) {
          yield {
            at: container.at,
            message: `Kubernetes ignores the image's HEALTHCHECK: give ${container.name} probes.`,
            related: [{ message: "the HEALTHCHECK", at: check.at }],
          };
        }
      }
    }
  },
};
