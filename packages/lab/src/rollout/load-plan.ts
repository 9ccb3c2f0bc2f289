/** From a rolling restart to what the load engine is asked for. */

import type { LoadPlan, RequestTemplate } from "../load/load.ts";
import { spoken } from "../scenario/load-options.ts";
import type { RolloutPlan } from "../scenario/plan.ts";

/** A request that no layer has answered by then: more than nginx's connect and read timeouts together. */
const REQUEST_TIMEOUT_MS = 30_000;

function mixOf({ routes, load }: RolloutPlan): readonly RequestTemplate[] {
  if (load.mix !== null) {
    return load.mix;
  }
  const all: readonly RequestTemplate[] = [
    ...(routes.get === null ? [] : [{ method: "GET" as const, path: routes.get, body: null, weight: 1 }]),
    ...(routes.post === null
      ? []
      : [{ method: "POST" as const, path: routes.post, body: routes.postBody, weight: 1 }]),
  ];
  return all.map((template) => spoken(template, load.protocol));
}

/** An upper bound, should everything take as long as it may. */
function longestMs(plan: RolloutPlan): number {
  const { headMs, gapMs, tailMs } = plan.timing;
  const oneMs = plan.gracePeriodMs + plan.readyTimeoutMs + plan.propagationMs + gapMs + 30_000;
  return headMs + plan.copies * plan.repeat * oneMs + tailMs;
}

/** `port`: the router's. */
export function loadPlanOf(plan: RolloutPlan, port: number): LoadPlan {
  return {
    host: "127.0.0.1",
    port,
    seed: plan.seed,
    arrivals: plan.load.arrivals,
    mix: mixOf(plan),
    keepAlive: plan.router.clientKeepAlive,
    engine: plan.load.engine,
    workers: plan.load.workers,
    timeoutMs: REQUEST_TIMEOUT_MS,
    maxDurationMs: longestMs(plan),
    // A service of yours may remember the ids of the run before.
    idPrefix: `r${plan.seed}-${Date.now().toString(36)}`,
  };
}
