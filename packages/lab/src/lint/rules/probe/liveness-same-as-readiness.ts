/** One answer for two questions. */

import type { Rule } from "../../finding.ts";
import type { Probe } from "../../model/kubernetes.ts";

export const livenessSameAsReadiness: Rule = {
  id: "probe/liveness-same-as-readiness",
  severity: "warning",
  summary: "Liveness and readiness ask the same endpoint.",
  why: "One asks 'restart me?', the other 'send me work?'. Harmless for a deletion (the kubelet stops liveness), not for a busy or dependent service.",
  *check(model) {
    for (const pod of model.pods) {
      for (const { readiness, liveness, name } of pod.containers) {
        if (readiness !== undefined && liveness !== undefined && isSame(readiness, liveness)) {
          const said =
            model.settings.budgets.get(pod.object.name) ??
            model.settings.budgets.get(name) ??
            model.settings.budgets.get("*");
          const dependent = /depend|deep/i.test(liveness.path ?? "");
          const inPlace = said?.drainsInPlace === true;
          yield {
            at: liveness.at,
            severity: dependent || inPlace ? "warning" : "info",
            message: inPlace
              ? `${name} drains without being deleted, so the failing probe ${liveness.path ?? ""} also restarts it in the middle of the drain.`
              : `Liveness asks ${liveness.path ?? "/"} like readiness: when it says "no work, please", the container is restarted.`,
            related: [{ message: "the readiness probe", at: readiness.at }],
          };
        }
      }
    }
  },
};

/** Values of headers that do not choose a host are not another endpoint; scripts may do anything. */
function isSame(left: Probe, right: Probe): boolean {
  return (
    (left.kind === "http" || left.kind === "grpc") &&
    left.kind === right.kind &&
    left.path === right.path &&
    left.port === right.port &&
    left.headers === right.headers
  );
}
