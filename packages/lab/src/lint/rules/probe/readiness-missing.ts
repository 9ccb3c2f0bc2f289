/** Nothing tells the Service when the pod may be used. */

import type { Rule } from "../../finding.ts";
import { podMembers, servedPods } from "../ask.ts";

export const readinessMissing: Rule = {
  id: "probe/readiness-missing",
  severity: "warning",
  summary: "A container that a Service sends to has no readiness probe.",
  why: "It counts as ready as soon as it runs: a rollout moves traffic to copies that do not answer yet.",
  *check(model) {
    for (const served of servedPods(model)) {
      for (const { container, at, name } of podMembers(served)) {
        if (container !== undefined && container.ports.length > 0 && container.readiness === undefined) {
          yield {
            at,
            message: `${name} has no readinessProbe, so every start and restart sends requests to a copy that may not listen yet.`,
            ...(served.services[0] === undefined
              ? {}
              : {
                  related: [
                    { message: `Service ${served.services[0].name} sends to it`, at: served.services[0].at },
                  ],
                }),
          };
        }
      }
    }
  },
};
