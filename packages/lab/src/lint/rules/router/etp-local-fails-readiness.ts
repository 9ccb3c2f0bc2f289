/** Failing readiness on the only route there is. */

import type { Rule } from "../../finding.ts";
import { get, text } from "../../parse/tree.ts";
import { failsReadiness, podMembers, servedPods } from "../ask.ts";

export const etpLocalFailsReadiness: Rule = {
  id: "router/etp-local-fails-readiness",
  severity: "warning",
  summary: "externalTrafficPolicy is Local and the service reports not ready as soon as it is told to stop.",
  why: "Terminating endpoints that are not ready get nothing: until the load balancer notices, the node drops traffic.",
  *check(model) {
    for (const served of servedPods(model)) {
      for (const service of served.services) {
        const value = get(service.tree, "spec", "externalTrafficPolicy");
        const failing = podMembers(served).find((member) => failsReadiness(member, model) === true);
        if (value !== undefined && text(value) === "Local" && failing !== undefined) {
          yield {
            at: value.at,
            message: `${failing.name} fails its readiness when the drain begins; behind Local it must stay ready through the drain delay (readinessInLameDuck: "keep").`,
          };
        }
      }
    }
  },
};
