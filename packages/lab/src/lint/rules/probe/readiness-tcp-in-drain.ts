/** A readiness probe that a drain does not change. */

import type { Rule } from "../../finding.ts";
import { podMembers, podTargeting, servedPods } from "../ask.ts";

export const readinessTcpInDrain: Rule = {
  id: "probe/readiness-tcp-in-drain",
  severity: "info",
  summary: "A TCP readiness probe stays green until the listener closes, and a load balancer polls it.",
  why: "A poller learns of the drain only when connections are refused, which is when requests are lost.",
  *check(model) {
    for (const served of servedPods(model)) {
      for (const { container } of podTargeting(served.pod).length > 0 ? podMembers(served) : []) {
        if (container?.readiness?.kind === "tcp") {
          yield {
            at: container.readiness.at,
            message: `The port of ${container.name} accepts until the drain is over. Ask a path that fails when the drain begins.`,
          };
        }
      }
    }
  },
};
