/** lifecycle.stopSignal where it has no effect. */

import type { Rule } from "../../finding.ts";
import { below } from "../../model/settings.ts";
import { get } from "../../parse/tree.ts";

export const stopSignalGate: Rule = {
  id: "k8s/stop-signal-gate",
  severity: "warning",
  summary: "lifecycle.stopSignal needs spec.os.name and a Kubernetes version that knows it.",
  why: "Alpha in 1.33 behind the gate ContainerStopSignals, beta in 1.37; without them the image's signal is used.",
  *check(model) {
    const version = model.settings.kubernetes;
    for (const pod of model.pods) {
      for (const { tree } of pod.containers) {
        const value = get(tree, "lifecycle", "stopSignal");
        if (value === undefined) {
          continue;
        }
        if (get(pod.spec, "os", "name") === undefined) {
          yield {
            at: value.at,
            message: "stopSignal needs spec.os.name (linux or windows): the API refuses it otherwise.",
          };
        } else if (version !== undefined && below(version, 1, 37)) {
          yield {
            at: value.at,
            message: below(version, 1, 33)
              ? "This Kubernetes version does not know stopSignal: set STOPSIGNAL in the image."
              : "stopSignal works only with the feature gate ContainerStopSignals on this version.",
          };
        }
      }
    }
  },
};
