/** Swarm stops the only copy first. */

import type { Rule } from "../../finding.ts";
import { get, items, keyAt, number, text } from "../../parse/tree.ts";

export const swarmStopFirst: Rule = {
  id: "rollout/swarm-stop-first",
  severity: "warning",
  summary: "A Swarm update stops the only copy before the new one runs.",
  why: "update_config.order is stop-first by default: one replica means an outage on every update.",
  *check(model) {
    for (const { tree, name } of model.services) {
      const update = get(tree, "deploy", "update_config");
      const replicas = number(get(tree, "deploy", "replicas")) ?? 1;
      const ports = items(get(tree, "ports"));
      const isGlobal = text(get(tree, "deploy", "mode")) === "global";
      const hostMode = ports.some((port) => text(get(port, "mode")) === "host");
      if (
        update !== undefined &&
        ports.length > 0 &&
        replicas <= 1 &&
        !isGlobal &&
        !hostMode &&
        text(get(update, "order")) !== "start-first"
      ) {
        yield {
          at: keyAt(tree, "deploy", "update_config") ?? update.at,
          message: `${name} has one replica and order stop-first: set order: start-first, or run two.`,
        };
      }
    }
  },
};
