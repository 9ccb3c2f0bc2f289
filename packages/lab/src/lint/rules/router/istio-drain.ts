/** The sidecar proxy leaves before the service. */

import { appMs } from "../../budget.ts";
import type { Rule } from "../../finding.ts";
import { graceOf, type Pod } from "../../model/kubernetes.ts";
import { keyAt } from "../../parse/tree.ts";
import { goDuration, seconds } from "../../time.ts";

export const istioDrain: Rule = {
  id: "router/istio-drain",
  severity: "error",
  summary: "Istio's proxy drains for a shorter time than the service, or for longer than the grace period.",
  why: "terminationDrainDuration is 5 s by default; after it the proxy exits and cuts what the service still answers.",
  *check(model) {
    for (const { pod, members } of model.workloads) {
      if (pod === undefined || !isInjected(pod)) {
        continue;
      }
      const config = pod.annotations.get("proxy.istio.io/config") ?? "";
      const at = keyAt(pod.template, "metadata", "annotations", "proxy.istio.io/config") ?? pod.object.at;
      const written = /terminationDrainDuration["']?\s*:\s*["']?(\d+(?:\.\d+)?(?:ms|s|m|h))/.exec(
        config,
      )?.[1];
      const drain = (written === undefined ? undefined : goDuration(written)) ?? 5000;
      const waits =
        /EXIT_ON_ZERO_ACTIVE_CONNECTIONS["']?\s*:\s*["']?true/.test(config) ||
        pod.annotations.get("sidecar.istio.io/nativeSidecar") === "true";
      const grace = graceOf(pod);
      if (drain >= grace.ms) {
        yield {
          at,
          message: `The proxy drains for ${seconds(drain)}, and the grace period is ${seconds(grace.ms)}: it is killed in its drain.`,
        };
        continue;
      }
      const member = members.find((one) => (appMs(one) ?? 0) > drain);
      if (member !== undefined && !waits) {
        yield {
          at,
          severity: "warning",
          message: `The proxy exits after ${seconds(drain)}, and ${member.name} may need ${seconds(appMs(member) ?? 0)}. Set EXIT_ON_ZERO_ACTIVE_CONNECTIONS, or use native sidecars.`,
        };
      }
    }
  },
};

function isInjected({ annotations, labels }: Pod): boolean {
  return (
    annotations.get("sidecar.istio.io/inject") === "true" ||
    labels.get("sidecar.istio.io/inject") === "true" ||
    annotations.has("proxy.istio.io/config")
  );
}
