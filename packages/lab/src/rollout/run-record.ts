/** The first line of a ledger: what is run, with what, and on which machine. */

import { cpus } from "node:os";
import type { RunRecord } from "../ledger/records.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import { commandOf } from "./service.ts";

export function runRecord(plan: RolloutPlan, router: string, parameters: RunRecord["parameters"]): RunRecord {
  return {
    kind: "run",
    schema: "lastcall.ledger/1",
    scenario: plan.scenario,
    seed: plan.seed,
    at: new Date().toISOString(),
    command: commandOf(plan),
    router,
    machine: { node: process.version, platform: process.platform, cores: cpus().length },
    parameters,
  };
}
