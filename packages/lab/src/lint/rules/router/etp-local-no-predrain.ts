/** Local traffic and no wait. */

import type { Rule } from "../../finding.ts";
import { get, text } from "../../parse/tree.ts";
import { isMeshed, isStateful, podMembers, preDrain, servedPods } from "../ask.ts";

export const etpLocalNoPredrain: Rule = {
  id: "router/etp-local-no-predrain",
  severity: "warning",
  summary: "externalTrafficPolicy is Local and the pod does not wait before it stops.",
  why: "The load balancer learns by polling the node's health port that its pod is gone; it sends until then.",
  *check(model) {
    for (const served of servedPods(model)) {
      for (const service of served.services) {
        const value = get(service.tree, "spec", "externalTrafficPolicy");
        const members = podMembers(served).filter(({ container }) => !isStateful(container?.image));
        if (
          value !== undefined &&
          text(value) === "Local" &&
          !isMeshed(served.pod) &&
          members.some((member) => preDrain(served.pod, member) === 0)
        ) {
          yield {
            at: value.at,
            message: `The load balancer asks the node whether it has a pod, and ${served.workload.name} stops before it can learn. Add a preStop sleep longer than its check.`,
          };
        }
      }
    }
  },
};
