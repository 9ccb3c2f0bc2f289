/** A preStop sleep and a drain delay both wait for the same routers. */

import type { Rule } from "../../finding.ts";
import { seconds } from "../../time.ts";

export const doubleDrain: Rule = {
  id: "budget/double-drain",
  severity: "warning",
  summary: "Both a preStop sleep and the service's own drain delay wait for routers.",
  why: "They run one after the other, so the wait is paid twice out of one grace period.",
  *check(model) {
    for (const { name, members } of model.workloads) {
      for (const { container, parts } of members) {
        const hook = container?.preStop;
        const delay = parts.drainDelay;
        if (hook !== undefined && hook.ms > 0 && delay !== undefined && delay.ms > 0) {
          yield {
            at: hook.at,
            message: `${name} waits ${seconds(hook.ms)} in preStop and then ${seconds(delay.ms)} of drain delay. Keep one of them.`,
            ...(delay.origin.kind === "file"
              ? { related: [{ message: "the drain delay", at: delay.origin.at }] }
              : {}),
          };
        }
      }
    }
  },
};
