/** A grace period that blocks node drains. */

import type { Rule } from "../../finding.ts";
import { isStateful } from "../ask.ts";
import { seconds } from "../../time.ts";

export const graceExcessive: Rule = {
  id: "k8s/grace-excessive",
  severity: "info",
  summary: "A Deployment's grace period is over 10 minutes, without a reason given.",
  why: "Node drains and rollouts wait for the slowest pod; one that hangs holds them up for the whole time.",
  *check(model) {
    for (const { object, grace, graceAt, annotations, containers } of model.pods) {
      const reasoned =
        annotations.has("lastcall/grace-reason") || containers.some(({ image }) => isStateful(image));
      if (
        object.kind === "Deployment" &&
        grace !== undefined &&
        graceAt !== undefined &&
        grace > 600 &&
        !reasoned
      ) {
        yield {
          at: graceAt,
          message: `${object.name} may hold up a node drain for ${seconds(grace * 1000)}. Say why in the annotation lastcall/grace-reason, or shorten it.`,
        };
      }
    }
  },
};
