/** A load balancer that sends straight to pods learns of the stop late. */

import type { Rule } from "../../finding.ts";
import { podMembers, podTargeting, preDrain, servedPods } from "../ask.ts";
import { seconds } from "../../time.ts";

export const externalLbNeedsPredrain: Rule = {
  id: "router/external-lb-needs-predrain",
  severity: "error",
  summary: "A load balancer sends straight to pods, and they do not wait for it.",
  why: "Targets are deregistered by a controller, seconds to minutes after SIGTERM; until then new requests still come.",
  *check(model) {
    for (const served of servedPods(model)) {
      const [at] = podTargeting(served.pod);
      if (at === undefined) {
        continue;
      }
      const waits = podMembers(served).flatMap((member) => preDrain(served.pod, member) ?? []);
      const least = Math.min(...waits);
      if (waits.length > 0 && least < model.settings.preDrainMs) {
        yield {
          at,
          message: `The load balancer sends to pods of ${served.workload.name}, which go on serving for ${seconds(least)} after the stop decision; ${seconds(model.settings.preDrainMs)} are needed. Add a preStop sleep.`,
          related: [{ message: served.workload.name, at: served.workload.at }],
        };
      }
    }
  },
};
