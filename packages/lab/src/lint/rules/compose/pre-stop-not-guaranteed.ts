/** Compose's pre_stop hooks do not run on every stop. */

import type { Rule } from "../../finding.ts";
import { keyAt } from "../../parse/tree.ts";

export const preStopNotGuaranteed: Rule = {
  id: "compose/pre-stop-not-guaranteed",
  severity: "info",
  summary: "A pre_stop hook does not run when the container stops by itself or is killed.",
  why: "Compose runs pre_stop from its own command; the daemon, a reboot and a crash know nothing of it.",
  *check(model) {
    for (const { tree } of model.services) {
      const at = keyAt(tree, "pre_stop");
      if (at !== undefined) {
        yield {
          at,
          message:
            "pre_stop runs only when Compose itself stops the container. Put what must happen into the service's own handler.",
        };
      }
    }
  },
};
