/** A second copy that has no room. */

import type { Rule } from "../../finding.ts";
import { get, items, number, truth } from "../../parse/tree.ts";
import { pctOrInt } from "../ask.ts";

export const hostportSurge: Rule = {
  id: "rollout/hostport-surge",
  severity: "warning",
  summary: "A Deployment holds a host port and its rollout waits for an additional pod.",
  why: "Two pods cannot hold one port of a node: with maxUnavailable 0 the rollout hangs when every node has one.",
  *check(model) {
    for (const pod of model.pods) {
      const { object } = pod;
      const strategy = get(object.tree, "spec", "strategy");
      const host = truth(get(pod.spec, "hostNetwork")) === true;
      const port = pod.containers.some(({ tree }) =>
        items(get(tree, "ports")).some((one) => (number(get(one, "hostPort")) ?? 0) > 0),
      );
      const unavailable = get(strategy, "rollingUpdate", "maxUnavailable");
      const { count, percent } = pctOrInt(unavailable);
      if (
        object.kind === "Deployment" &&
        (host || port) &&
        unavailable !== undefined &&
        (count === 0 || percent === 0)
      ) {
        yield {
          at: unavailable.at,
          message: `${object.name} holds a host port, so its additional pod needs a free node. Allow maxUnavailable: 1.`,
        };
      }
    }
  },
};
