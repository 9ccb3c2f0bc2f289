/** Where a rolling restart takes place: among child processes of the lab, in Docker Compose, or in Docker Swarm. */

import { formatDuration } from "../duration.ts";
import { openCompose } from "../platform/compose.ts";
import { openSwarm } from "../platform/swarm.ts";
import { orderInWords, orderSeen } from "../platform/update-order.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import type { Row } from "./row.ts";
import { runSwarmUpdate } from "./run-swarm.ts";
import { runRollout, type RunContext, type RunResult } from "./run.ts";

export interface Place {
  /** What is said before the run; null: nothing. */
  readonly about: string | null;
  /** The plan with what the platform itself says of the service. */
  readonly planned: (plan: RolloutPlan) => RolloutPlan;
  readonly run: (plan: RolloutPlan, context: RunContext) => Promise<RunResult>;
  /** What the platform has to show beyond the verdict; empty: nothing. */
  readonly shows: (row: Row) => readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws what the platform refuses: `LAB_PLATFORM_MISSING`, `LAB_PLATFORM_REFUSED`, `LAB_OPTION`. */
export async function openPlace(plan: RolloutPlan, cwd: string, env: Environment): Promise<Place> {
  const { service, routes, readyTimeoutMs } = plan;
  switch (service.kind) {
    case "orders":
    case "command":
      return { about: null, planned: (one) => one, run: runRollout, shows: () => [] };
    case "compose": {
      const { file, name, containerPort } = service;
      const copyHost = await openCompose(
        { file, service: name, containerPort, readyPath: routes.ready, readyTimeoutMs },
        cwd,
        env,
      );
      return {
        about: `Platform: Compose, ${copyHost.about}, grace period ${formatDuration(copyHost.gracePeriodMs)}.`,
        planned: (one) => ({ ...one, gracePeriodMs: copyHost.gracePeriodMs }),
        run: (one, context) => runRollout(one, { ...context, copyHost }),
        shows: () => [],
      };
    }
    case "swarm": {
      const swarm = await openSwarm(
        {
          service: service.name,
          drainNode: service.drainNode,
          engines: service.engines,
          taskTimeoutMs: readyTimeoutMs,
        },
        env,
      );
      const how =
        service.drainNode === null ? "an update of every task" : `node ${service.drainNode} drained`;
      return {
        about: `Platform: Swarm, service ${service.name}, ${swarm.replicas} tasks, ${swarm.order}, grace period ${formatDuration(swarm.gracePeriodMs)}; ${how}. Router: ${service.url.host}.`,
        planned: (one) => ({ ...one, gracePeriodMs: swarm.gracePeriodMs, copies: swarm.replicas }),
        run: (one, context) => runSwarmUpdate(one, service.url, swarm, context),
        // A drained node moves its tasks in an order of its own: Swarm stops them first.
        shows: ({ verdict }) => [
          `order  ${orderInWords(orderSeen(verdict.restarts, service.drainNode === null ? swarm.order : "stop-first"))}`,
        ],
      };
    }
  }
}
