/** A hook that starts a stop and returns. */

import type { Rule } from "../../finding.ts";

export const prestopAsync: Rule = {
  id: "k8s/prestop-async",
  severity: "warning",
  summary: "The preStop hook asks the service to stop and returns at once.",
  why: "The kubelet's own signal follows immediately: it turns the drain just begun into a fast or second stop.",
  *check(model) {
    for (const { members } of model.workloads) {
      for (const { container, stopSignal, image, facts } of members) {
        const hook = container?.preStop;
        const text = hook?.words.map((word) => word.text).join(" ") ?? "";
        if (hook?.kind !== "exec" || hook.ms > 0 || /\b(sleep|wait)\b/.test(text)) {
          continue;
        }
        const fast =
          stopSignal === undefined
            ? image !== undefined && facts.official !== "nginx"
            : /TERM|INT$/.test(stopSignal.signal);
        if (/nginx\s+-s\s+quit/.test(text) && fast) {
          yield {
            at: hook.at,
            message:
              "`nginx -s quit` returns at once, and the signal that follows is nginx's fast stop. Set STOPSIGNAL SIGQUIT instead.",
          };
        } else if (/\bkill\s+(-(s\s*)?(SIG)?(TERM|15)\s+)?1\b/.test(text)) {
          yield {
            at: hook.at,
            message:
              "The hook signals PID 1 and the kubelet's SIGTERM follows at once: the service is told twice. Wait instead (sleep).",
          };
        }
      }
    }
  },
};
