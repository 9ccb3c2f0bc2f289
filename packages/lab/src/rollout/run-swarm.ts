/** One update of a Swarm service under load: the load and the events go into the ledger as those of a rolling restart do. */

import { startRunClock } from "../ledger/clock.ts";
import type { EndRecord, RequestRecord } from "../ledger/records.ts";
import { createLoadEngine } from "../load/engine.ts";
import type { SwarmService } from "../platform/swarm.ts";
import type { SwarmTasks } from "../platform/swarm-tasks.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import { assertBaseline } from "./baseline.ts";
import { concludeRun } from "./conclude.ts";
import { executedOffset, readExecuted } from "./executed.ts";
import { loadPlanOf } from "./load-plan.ts";
import { createRecorder } from "./recorder.ts";
import type { RunContext, RunResult } from "./run.ts";
import { runRecord } from "./run-record.ts";
import { openScope } from "./scope.ts";

/** A router's own words for a request that it could not deliver, in the form of `x-lastcall-upstream`. */
const OWN_ERRORS: Readonly<Record<number, string>> = {
  // A 502 comes after the connection was made, a 503 when none could be.
  502: "-|502|0|-",
  503: "-|502|-|-",
  504: "-|504|0|-",
};

/**
 * An answer says its task or its container; the ledger says its copy. The router in front tells the lab nothing: an error
 * without the name of a task is taken for its own.
 */
function told(record: RequestRecord, tasks: SwarmTasks): RequestRecord {
  const own = record.copy === null && record.upstream === null ? OWN_ERRORS[record.status ?? 0] : undefined;
  return { ...record, copy: tasks.copyOf(record.copy) ?? record.copy, upstream: own ?? record.upstream };
}

export async function runSwarmUpdate(
  plan: RolloutPlan,
  url: URL,
  service: SwarmService,
  context: Omit<RunContext, "router" | "copyHost">,
): Promise<RunResult> {
  const scope = openScope(context.interrupted);
  const clock = startRunClock();
  const recorder = await createRecorder(context.folder, clock, scope, context.onRecord);
  const { records, write, note } = recorder;
  write(
    runRecord(plan, `the router at ${url.host}`, {
      signal: plan.signal,
      drainDelayMs: null,
      gracePeriodMs: plan.gracePeriodMs,
      order: service.order,
      witness: "none",
      // The tasks are out of the lab's reach: whether their readiness turns is not known.
      readiness: "not asked",
      ratePerSecond: plan.ratePerSecond,
      copies: service.replicas,
      repeat: 1,
    }),
  );
  const offset = await executedOffset(plan, context.cwd);
  const end = async (reason: EndRecord["reason"]): Promise<void> => {
    const executed = await readExecuted(plan, context.folder, context.cwd, offset, []);
    for (const row of executed.rows ?? []) {
      write(row);
    }
    await recorder.end(reason, executed.rows?.length ?? null, null);
  };
  return concludeRun(scope, recorder, end, async () => {
    const tasks = await service.follow(scope, clock, context.guardian, write);
    const port = Number(url.port === "" ? 80 : url.port);
    const engine = createLoadEngine({ ...loadPlanOf(plan, port), host: url.hostname }, clock.baseMs);
    scope.defer(() => engine.abort());
    engine.onRecords((batch) => {
      for (const record of batch) {
        write(told(record, tasks));
      }
    });
    await scope.orInterrupted(engine.start());
    note("load-started", { ratePerSecond: plan.ratePerSecond });
    await scope.sleep(plan.timing.headMs);
    assertBaseline(plan, records);
    await service.update(scope, tasks);
    await scope.sleep(plan.timing.tailMs);
    await scope.orInterrupted(engine.stop());
    note("load-ended");
  });
}
