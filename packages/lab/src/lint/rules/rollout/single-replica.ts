/** One copy behind a Service. */

import type { Rule } from "../../finding.ts";
import { get, items } from "../../parse/tree.ts";
import { isStateful, servedPods } from "../ask.ts";

export const singleReplica: Rule = {
  id: "rollout/single-replica",
  severity: "info",
  summary: "A Deployment behind a Service has one replica.",
  why: "A node drain or a crash leaves nobody to answer: eviction does not start a new pod first.",
  *check(model) {
    for (const { pod } of servedPods(model)) {
      const { object, replicas, autoscaler } = pod;
      const claims = items(get(pod.spec, "volumes")).some(
        (volume) => get(volume, "persistentVolumeClaim") !== undefined,
      );
      const elects = pod.containers.some(({ args, command }) =>
        [...(args ?? []), ...(command ?? [])].some((word) => word.text.includes("leader-elect")),
      );
      const stateful = pod.containers.some(({ image }) => isStateful(image));
      if (
        object.kind === "Deployment" &&
        (replicas === undefined || replicas === 1) &&
        autoscaler === undefined &&
        !claims &&
        !elects &&
        !stateful
      ) {
        const value = get(object.tree, "spec", "replicas");
        yield {
          at: value?.at ?? object.at,
          message:
            replicas === undefined
              ? `${object.name} does not say how many replicas it has: one, unless an autoscaler outside these files sets it.`
              : `${object.name} has one replica: a node drain stops it before another one runs.`,
        };
      }
    }
  },
};
