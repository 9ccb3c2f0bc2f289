/**
 * What a lifecycle says, and what it has to say it from: lines for people, events for the app, the state for probes, and
 * the record at the end. It decides nothing.
 */

import { EventEmitter } from "node:events";
import type { Admission } from "./admission.ts";
import type { Budget } from "./budget.ts";
import type { Host } from "./host.ts";
import type { LifecycleEvents } from "./life.ts";
import type { State } from "./machine.ts";
import type { LifecycleOptions } from "./options.ts";
import type { ClusterStop } from "./platform/cluster.ts";
import { describeWaiting } from "./progress.ts";
import { formatRecord, makeRecord, type RecordParts, type ShutdownRecord } from "./record.ts";
import { AUTO_KEY, type AutoMode } from "./registry.ts";
import type { Fleet } from "./servers/fleet.ts";
import type { SignalHeard } from "./signals.ts";
import type { Stop } from "./stop.ts";
import type { Tasks } from "./tasks.ts";
import type { Teardown } from "./teardown.ts";

/** The watchdog's record is made ten times a second: so many requests are listed in it, the rest are counted. */
const LISTED = 20;

/** What it reads. */
export interface Reported {
  readonly host: Host;
  readonly options: LifecycleOptions;
  readonly budget: Budget;
  readonly admission: Admission;
  readonly tasks: Tasks;
  readonly teardown: Teardown;
  readonly workers: ClusterStop;
  fleet(): Fleet;
  state(): State;
  isReady(): boolean;
  stop(): Stop | null;
}

export class Reporter {
  readonly events: EventEmitter<LifecycleEvents> = new EventEmitter();
  /** The requests that were cut, or left unfinished by an exit. */
  cuts: RecordParts["cuts"] = [];
  /** Somebody forced the stop. */
  forced = false;
  /** An error that nobody caught. */
  failed = false;
  readonly #about: Reported;
  readonly #others: SignalHeard[] = [];
  readonly #errors: string[] = [];
  #recorded = false;

  constructor(about: Reported) {
    this.#about = about;
  }

  /** Whether the record has been written. */
  get recorded(): boolean {
    return this.#recorded;
  }

  say(line: string): void {
    if ((this.#about.options.log ?? "text") === "text") {
      this.#about.host.writeLine(`lastcall: ${line}`);
    }
  }

  /** Tells the app. A listener that throws must not break the stop. */
  tell<K extends keyof LifecycleEvents>(event: K, ...message: LifecycleEvents[K]): void {
    try {
      (this.events as EventEmitter).emit(event, ...message);
    } catch (error) {
      this.error(error, `listener of '${event}': `);
    }
  }

  /** A stop signal after the first. */
  heard(signal: SignalHeard): void {
    this.#others.push(signal);
    this.say(`${signal.signal}: ${signal.effect}`);
    this.tell("signal", signal);
  }

  /** For the record. */
  error(error: unknown, where = ""): void {
    this.#errors.push(`${where}${describeError(error)}`);
  }

  /** What the drain or the teardown is waiting for. */
  sayProgress(stop: Stop): void {
    const { host, budget, admission, tasks, teardown, workers } = this.#about;
    const now = host.now();
    const age = (startedAt: number): number => now - startedAt;
    const inTeardown = this.#about.state() === "teardown";
    const endsAt = inTeardown ? (stop.teardownAt ?? now) + budget.teardownTimeoutMs : stop.deadline.at;
    this.say(
      describeWaiting({
        phase: inTeardown ? "teardown" : "draining",
        remainingMs: endsAt - now,
        requests: inTeardown
          ? []
          : [...admission.inFlight].map((one) => ({ name: one.route(), ageMs: age(one.startedAt) })),
        tasks: tasks.open().map((one) => ({ name: one.name, ageMs: age(one.startedAt) })),
        connections: this.#about.fleet().connections(),
        hook: teardown.running,
        workers: workers.names(),
      }),
    );
  }

  /** What `/statez` shows. */
  describe(): unknown {
    const { host, budget, admission, tasks, teardown } = this.#about;
    const stop = this.#about.stop();
    return {
      state: this.#about.state(),
      ready: this.#about.isReady(),
      remainingMs: stop === null ? null : Math.round(Math.max(0, stop.deadline.at - host.now())),
      requests: { ...admission.counts(), inFlight: admission.inFlight.size, unfinished: undefined },
      tasks: { open: tasks.size, ...tasks.report().counts },
      connections: this.#about.fleet().connections(),
      teardown: { running: teardown.running, done: teardown.reports() },
      budget,
    };
  }

  /** The record of a stop that ends now; `appExit` where the app ends it. */
  record(stop: Stop, appExit: RecordParts["appExit"] = null): ShutdownRecord {
    const { host, tasks } = this.#about;
    return makeRecord({
      ...this.#parts(stop),
      cuts: this.cuts,
      tasks: tasks.report(),
      held: host.holders(this.#about.fleet().connections()),
      appExit,
    });
  }

  /** The record of a stop whose process would be ended this very moment, from outside: for the watchdog. */
  recordIfCut(stop: Stop): ShutdownRecord {
    const { tasks, teardown } = this.#about;
    return makeRecord({
      ...this.#parts(stop),
      cuts: this.cuts.length === 0 ? this.unfinished("exit").slice(0, LISTED) : this.cuts,
      tasks: tasks.reportAbandoned(),
      held: [],
      skipped: teardown.pending(),
      appExit: null,
    });
  }

  unfinished(how: "handler" | "exit"): RecordParts["cuts"] {
    return [...this.#about.admission.inFlight].map((exchange) => ({
      route: exchange.route(),
      startedAt: exchange.startedAt,
      how,
    }));
  }

  write(record: ShutdownRecord): void {
    const { host, options } = this.#about;
    this.#recorded = true;
    host.writeRecord(formatRecord(record), options.recordFile);
    this.tell("record", record);
    host.publish("lastcall:record", record);
  }

  #parts(stop: Stop): Omit<RecordParts, "cuts" | "tasks" | "held" | "skipped" | "appExit"> {
    const { host, options, budget, admission, teardown } = this.#about;
    const auto = host.registry[AUTO_KEY] as AutoMode | undefined;
    return {
      stop: auto === undefined ? stop : { ...stop, foreign: auto.foreign() },
      now: host.now(),
      facts: host.facts,
      others: this.#others,
      budget,
      requests: admission.counts(),
      connections: this.#about.fleet().counts(),
      teardown: teardown.reports(),
      errors: this.#errors,
      forced: this.forced,
      failed: this.failed,
      exitPolicy: options.exitPolicy ?? "code",
      pendingExitCode: host.pendingExitCode(),
      askedExitCode: auto?.exitCode() ?? null,
    };
  }
}

export function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
