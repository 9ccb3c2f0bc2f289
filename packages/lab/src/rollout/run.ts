/**
 * One row: copies, router and load are started, each copy is restarted in turn, and everything that happens goes into
 * the ledger. Reads top to bottom in the order of a run. It judges nothing.
 */

import path from "node:path";
import { startRunClock } from "../ledger/clock.ts";
import type { EndRecord, EventRecord, LedgerRecord } from "../ledger/records.ts";
import { createLoadEngine } from "../load/engine.ts";
import type { CopyHost } from "../platform/copy-host.ts";
import { parametersOf as routerParametersOf } from "../router/options.ts";
import type { FoundRouter, Router, Upstream } from "../router/router.ts";
import { startRouter } from "../router/start.ts";
import { arrivalsInWords } from "../scenario/load-options.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import { watchStalls } from "../stalls.ts";
import { startCopy, type Copy } from "../target/copy.ts";
import { portFinder } from "../target/free-port.ts";
import type { Guardian } from "../target/guardian.ts";
import { assertBaseline, baselineAnswers } from "./baseline.ts";
import { concludeRun } from "./conclude.ts";
import { executedOffset, jobsDone, readExecuted } from "./executed.ts";
import { loadPlanOf } from "./load-plan.ts";
import { createRecorder } from "./recorder.ts";
import { restart } from "./restart.ts";
import { startRotation } from "./rotation.ts";
import { joinAccessLog } from "./router-requests.ts";
import { runRecord } from "./run-record.ts";
import { openScope } from "./scope.ts";
import { copyName, copySpec } from "./service.ts";
import { startWitness } from "./witness.ts";

export interface RunContext {
  readonly guardian: Guardian;
  /** Null: the embedded router. */
  readonly router: FoundRouter | null;
  /** Exists and is empty. */
  readonly folder: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interrupted: AbortSignal;
  /** Absent: the copies are child processes of the lab. */
  readonly copyHost?: CopyHost;
  /** Each record as it comes, for the live view. */
  readonly onRecord: (record: LedgerRecord) => void;
}

export interface RunResult {
  readonly records: readonly LedgerRecord[];
  readonly ended: EndRecord["reason"];
}

function parametersOf(plan: RolloutPlan): Readonly<Record<string, string | number | boolean | null>> {
  return {
    signal: plan.signal,
    drainDelayMs: plan.drainDelayMs,
    gracePeriodMs: plan.gracePeriodMs,
    propagationMs: plan.propagationMs,
    order: plan.order,
    witness: plan.witness,
    ...routerParametersOf(plan.router),
    ratePerSecond: plan.ratePerSecond,
    arrivals: arrivalsInWords(plan.load.arrivals),
    engine: plan.load.engine,
    copies: plan.copies,
    repeat: plan.repeat,
    live: plan.routes.live,
    warmUpMs: plan.warmUpMs,
    // For whoever reads the ledger without the plan; null where any loss is a finding.
    mustShow: plan.expectation === null ? null : plan.mustShow,
  };
}

/** Throws when it could not run; the ledger then ends with `failed`. An interrupted run is a result. */
export async function runRollout(plan: RolloutPlan, context: RunContext): Promise<RunResult> {
  const { folder, guardian } = context;
  const scope = openScope(context.interrupted);
  const clock = startRunClock();
  const recorder = await createRecorder(folder, clock, scope, context.onRecord);
  const { records, write, note } = recorder;
  const emit = (event: EventRecord): void => write(event);
  write(runRecord(plan, context.router?.version ?? "embedded", parametersOf(plan)));

  const findPort = portFinder();
  const everStarted: string[] = [];
  const offset = await executedOffset(plan, context.cwd);
  const witness = startWitness(plan, folder, clock, findPort);
  scope.defer(() => witness.stop());
  let router: Router | null = null;

  const startAt = (name: string, port: number): Promise<Copy> => {
    const around = { clock, guardian, emit };
    if (context.copyHost !== undefined) {
      return context.copyHost.startCopy(name, port, folder, around);
    }
    const spec = copySpec(plan, name, port, folder, context.cwd, context.env);
    return startCopy({ ...spec, env: { ...spec.env, ...witness.env(name, spec.env) } }, around);
  };
  const start = async (name: string): Promise<Copy> => {
    const port = await findPort();
    scope.assertOpen();
    const copy = await startAt(name, port);
    everStarted.push(name);
    scope.defer(() => copy.end());
    await scope.orInterrupted(copy.ready());
    return scope.orInterrupted(witness.inFront(copy));
  };

  const end = async (reason: EndRecord["reason"]): Promise<void> => {
    for (const line of (await router?.log()) ?? []) {
      write(line);
    }
    for (const joined of router === null ? [] : await joinAccessLog(records, router)) {
      write(joined);
    }
    const executed = await readExecuted(plan, folder, context.cwd, offset, everStarted);
    for (const text of executed.notes) {
      note("note", { text });
    }
    for (const row of executed.rows ?? []) {
      write(row);
    }
    const arrivals = await witness.records(everStarted);
    for (const arrival of arrivals ?? []) {
      write(arrival);
    }
    await recorder.end(reason, executed.rows?.length ?? null, arrivals?.length ?? null);
  };

  return concludeRun(scope, recorder, end, async () => {
    const copies = await all(Array.from({ length: plan.copies }, (_, place) => start(copyName(place, 1))));
    const upstreams = copies.map(({ name, host = "127.0.0.1", port }): Upstream => ({
      copy: name,
      host,
      port,
    }));
    router = await startRouter(
      context.router,
      { ...plan.router, port: 0, folder: path.join(folder, "router") },
      upstreams,
      { clock, guardian, emit, findPort },
    );
    scope.defer(router.stop);
    const rotation = startRotation(router, upstreams, clock, emit);

    const load = loadPlanOf(plan, router.port);
    const engine = createLoadEngine(load, clock.baseMs);
    scope.defer(() => engine.abort());
    engine.onRecords((batch) => {
      for (const record of batch) {
        write(record);
      }
    });
    await scope.orInterrupted(engine.start());
    const stalls = watchStalls(clock);
    scope.defer(() => void stalls.stop());
    note("load-started", { ratePerSecond: plan.ratePerSecond });

    await scope.sleep(plan.timing.headMs);
    await baselineAnswers(plan, new Set(load.mix.map(({ method }) => method)), records, scope.sleep);
    assertBaseline(plan, records);
    for (let round = 0; round < plan.repeat; round += 1) {
      for (const [place, leaving] of copies.entries()) {
        const beganMs = clock.now();
        // A rolling restart is one copy after the other.
        copies[place] = await restart(
          plan,
          leaving,
          () => start(copyName(place, round + 2)),
          rotation,
          scope,
        );
        const last = round === plan.repeat - 1 && place === copies.length - 1;
        await scope.sleep(last ? 0 : Math.max(0, beganMs + plan.timing.gapMs - clock.now()));
      }
    }
    await scope.sleep(plan.timing.tailMs);
    await scope.orInterrupted(engine.stop());
    const inRouter = await router.stalls?.();
    note("load-ended", {
      ...stalls.stop(),
      ...(inRouter === undefined
        ? {}
        : { routerStallP95Ms: inRouter.stallP95Ms, routerStallMaxMs: inRouter.stallMaxMs }),
    });
    if (plan.executedFile !== null) {
      const read = async (): Promise<readonly string[]> =>
        ((await readExecuted(plan, folder, context.cwd, offset, everStarted)).rows ?? []).map(({ id }) => id);
      await jobsDone(records, read, scope.sleep);
    }
  });
}

/** As Promise.all, but when one fails the others have come to their end too: none is started behind our back. */
async function all<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
