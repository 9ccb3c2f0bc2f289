/** A stop that may take for ever. */

import type { Rule } from "../../finding.ts";

export const timeoutInfinity: Rule = {
  id: "systemd/timeout-infinity",
  severity: "info",
  summary: "TimeoutStopSec is infinity.",
  why: "One stuck request holds up the restart, and the shutdown of the machine.",
  *check(model) {
    for (const { platform, timer, name } of model.workloads) {
      if (platform === "systemd" && timer?.ms === Number.POSITIVE_INFINITY) {
        yield {
          at: timer.at,
          message: `${name} may take for ever to stop. Set a time that its budget fits into.`,
        };
      }
    }
  },
};
