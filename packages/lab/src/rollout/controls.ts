/**
 * Controls: runs of the same service that must show losses. A lab that sees none of them would see none of yours either: it is
 * blind, and says so. Pure: which runs to make, and what they say.
 */

import type { RolloutPlan } from "../scenario/plan.ts";
import type { Control } from "../verdict/reruns.ts";
import type { Verdict } from "../verdict/verdict.ts";

export interface ControlRun {
  readonly name: Control["name"];
  readonly words: string;
  readonly plan: RolloutPlan;
}

/** Long enough for some requests to meet the gap at the lowest rates. */
const LEAST_LAG_MS = 1000;
const MAX_LAG_MS = 60_000;

function lagFor(plan: RolloutPlan): number {
  // At 20 requests/s and two copies a second of lag meets ten requests.
  return Math.min(MAX_LAG_MS, Math.max(LEAST_LAG_MS, plan.propagationMs, 10_000 / plan.ratePerSecond));
}

/** `verdict`: of the run itself; it tells how long a copy serves after its signal. */
export function controlsFor(plan: RolloutPlan, verdict: Verdict): readonly ControlRun[] {
  const base: RolloutPlan = {
    ...plan,
    order: "parallel",
    repeat: 1,
    expectation: null,
    propagationMs: lagFor(plan),
  };
  const leaving = verdict.restarts.map(({ signalMs, exitMs }) => (exitMs === null ? 0 : exitMs - signalMs));
  // A service that takes no delay from us has one of its own: the router is told only when that is over.
  const outlastMs = Math.min(MAX_LAG_MS, Math.max(0, ...leaving) + lagFor(plan));
  return [
    { name: "hard-kill", words: "SIGKILL instead of the stop signal", plan: { ...base, signal: "SIGKILL" } },
    {
      name: "no-delay",
      words:
        plan.service.kind === "orders" ? "no drain delay" : "a router that lags behind the copy's own drain",
      plan: {
        ...base,
        drainDelayMs: 0,
        ...(plan.service.kind === "orders" ? {} : { propagationMs: outlastMs }),
      },
    },
  ];
}

export function controlOf(run: ControlRun, verdict: Verdict, folder: string): Control {
  return {
    name: run.name,
    words: run.words,
    outcome: verdict.outcome,
    bad: verdict.requests.byCharge.service,
    sent: verdict.requests.sent,
    folder,
  };
}
