/** The service's own emergency exit is set later than SIGKILL. */

import type { Rule } from "../../finding.ts";
import { originText, seconds } from "../../time.ts";

export const forceExitTooLate: Rule = {
  id: "budget/force-exit-too-late",
  severity: "warning",
  summary: "The forced exit in the code comes after SIGKILL.",
  why: "The timer never fires: the platform kills first, and nothing is logged or closed.",
  *check(model) {
    for (const { name, members, timer } of model.workloads) {
      for (const { sources, container } of members) {
        const hook = container?.preStop?.ms ?? 0;
        for (const { forceExit } of sources) {
          if (
            timer !== undefined &&
            forceExit?.origin.kind === "file" &&
            forceExit.ms >= timer.ms - hook &&
            timer.ms > 0
          ) {
            yield {
              at: forceExit.origin.at,
              message: `The forced exit after ${seconds(forceExit.ms)} is too late: ${name} has ${seconds(Math.max(0, timer.ms - hook))} after SIGTERM.`,
              related: [
                { message: `${timer.name}: ${seconds(timer.ms)}, ${originText(timer.origin)}`, at: timer.at },
              ],
            };
          }
        }
      }
    }
  },
};
