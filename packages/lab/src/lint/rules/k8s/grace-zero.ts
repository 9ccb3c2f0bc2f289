/** A served pod with no time at all. */

import type { Rule } from "../../finding.ts";
import { servedPods } from "../ask.ts";

export const graceZero: Rule = {
  id: "k8s/grace-zero",
  severity: "error",
  summary: "A pod that clients reach has a grace period of 0.",
  why: "With 0 the preStop hook is skipped and SIGKILL follows at once.",
  *check(model) {
    for (const { pod, services } of servedPods(model)) {
      if (pod.grace === 0 && pod.graceAt !== undefined) {
        yield {
          at: pod.graceAt,
          message: `Service ${services[0]?.name ?? ""} sends to this pod, and a grace period of 0 kills it without SIGTERM.`,
        };
      }
    }
  },
};
