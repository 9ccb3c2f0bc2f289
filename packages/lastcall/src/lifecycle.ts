/**
 * The story of a stop, top to bottom in the order in which it happens: signal, drain delay, gate, drain, deadline,
 * teardown, record, exit. What happens when is decided by the table in `machine.ts`; here it is carried out. One class,
 * because the story is one: it is longer than other files for that reason alone.
 */

import { EventEmitter, setMaxListeners } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Admission } from "./admission.ts";
import { describeBudget, planBudget, type Budget } from "./budget.ts";
import { beginDeadline, closeGateAt, expireAt, type Deadline } from "./deadline.ts";
import { formatDuration } from "./duration.ts";
import { LastcallError } from "./errors.ts";
import type { Host, Undo } from "./host.ts";
import type { Lifecycle, LifecycleEvents, SignalHeard } from "./life.ts";
import { isReady, transition, type Effect, type LifeEvent, type State } from "./machine.ts";
import { unknownVariables, type LifecycleOptions } from "./options.ts";
import { detectPlatform, type Platform } from "./platform.ts";
import { describeWaiting } from "./progress.ts";
import { exitCodeOf, formatRecord, type Outcome, type ShutdownRecord } from "./record.ts";
import { exchangeOf, HttpExchange } from "./servers/http-exchange.ts";
import { attachHttp1 } from "./servers/http1.ts";
import { makeProbeHandler, openAdminPort, type ProbeHandler } from "./servers/probe-handler.ts";
import type { Cut, DrainedServer } from "./servers/server.ts";
import { listenForSignals } from "./signals.ts";
import { Tasks, type TaskOptions } from "./tasks.ts";
import { Teardown, type TeardownHook } from "./teardown.ts";

/** E5: at least once a second; a little less, since timers are late and never early. */
const PROGRESS_MS = 900;

/** Whoever asked for readiness this recently is a router that will hear of the stop. */
const READINESS_MEMORY_MS = 30_000;

/** How long other people's queued output is waited for before the record. */
const FLUSH_MS = 100;

interface Stop {
  readonly reason: ShutdownRecord["reason"];
  readonly why: string | undefined;
  readonly signal: NodeJS.Signals | null;
  readonly at: string;
  readonly leaveOrder: "announce-first" | "listener-first";
  readonly foreign: readonly string[];
  deadline: Deadline;
  drainingAt: number | null;
  teardownAt: number | null;
}

export class LifecycleCore implements Lifecycle {
  readonly budget: Budget;
  readonly events: EventEmitter<LifecycleEvents> = new EventEmitter();
  readonly probes: ProbeHandler;
  readonly #options: LifecycleOptions;
  readonly #host: Host;
  readonly #platform: Platform;
  readonly #admission: Admission;
  readonly #tasks: Tasks;
  readonly #teardown: Teardown;
  readonly #servers = new Map<Server, DrainedServer>();
  /** Servers on which the app has mounted the probes. */
  readonly #probed = new Set<Server>();
  readonly #admin: Server | null;
  readonly #stopping = new AbortController();
  /** For requests that no attached server knows. */
  readonly #nearDeadline = new AbortController();
  readonly #installed: Undo[] = [];
  readonly #timers: Undo[] = [];
  readonly #others: SignalHeard[] = [];
  readonly #errors: string[] = [];
  readonly #record: Promise<ShutdownRecord>;
  #resolveRecord: (record: ShutdownRecord) => void = () => {};
  #state: State = "starting";
  #stop: Stop | null = null;
  #cuts: readonly Cut[] = [];
  #listenersClosed = false;
  #forced = false;
  #failed = false;
  #disposing = false;
  #readinessAskedAt = Number.NEGATIVE_INFINITY;

  /** `options` have been read and checked one by one; here they are checked against each other. */
  constructor(options: LifecycleOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    this.#platform = detectPlatform(host.env, host.facts.fileExists);
    const { budget, sources } = planBudget(options, this.#platform);
    this.budget = budget;
    this.#admission = new Admission(() => this.#checkDrained());
    this.#tasks = new Tasks(host, () => this.#checkDrained());
    this.#teardown = new Teardown(host);
    this.#record = new Promise((resolve) => {
      this.#resolveRecord = resolve;
    });
    // Node 20 warns at the eleventh listener of one signal; a service may well have a hundred streams.
    setMaxListeners(0, this.#stopping.signal, this.#nearDeadline.signal);

    const view = {
      isReady: () => isReady(this.#state, options.readinessInLameDuck ?? "fail"),
      describe: () => this.#describe(),
    };
    this.probes = makeProbeHandler(options.probePaths ?? {}, view, (request, probe) => {
      if (probe === "ready") {
        this.#readinessAskedAt = host.now();
      }
      const exchange = exchangeOf(request);
      if (exchange !== undefined) {
        this.#probed.add(exchange.server);
        this.#admission.forget(exchange);
      }
    });
    const adminHost = options.adminHost ?? (this.#platform.remoteProbes ? undefined : "127.0.0.1");
    this.#admin =
      options.adminPort === undefined ? null : openAdminPort(options.adminPort, adminHost, this.probes);
    // Probes alone are no reason to stay alive.
    this.#admin?.unref();

    this.#installed.push(
      listenForSignals(host, this.#signals(), (signal) => this.#heard(signal)),
      host.onEmptyLoop(() => this.#emptied()),
      host.onExit((code, stack) => this.#exitedByApp(code, stack)),
    );
    this.#say(`${describeBudget(budget, sources)}; leave order ${options.leaveOrder ?? "auto"}`);
    if (budget.drainDelayMs === 0 && options.drainDelayMs === undefined) {
      this.#say(
        "no router known, so no drain delay: behind one, set LASTCALL_DRAIN_DELAY to more than its lag",
      );
    }
    for (const name of unknownVariables(host.env)) {
      this.#say(`warning: nothing reads the environment variable ${name}`);
    }
  }

  get state(): State {
    return this.#state;
  }

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  // What the app does while it serves.

  http(server: Server): this {
    if (this.#servers.has(server)) {
      return this;
    }
    if (typeof server?.closeIdleConnections !== "function") {
      throw new LastcallError(
        "LASTCALL_SERVER",
        "life.http() was given something that is no HTTP/1.1 server.",
      );
    }
    const drained = attachHttp1(server, {
      host: this.#host,
      admission: this.#admission,
      answerProbe: (request, response) => this.#probed.has(server) && this.probes(request, response),
      onQuiet: () => this.#checkDrained(),
    });
    this.#servers.set(server, drained);
    if (this.#stop !== null) {
      drained.begin();
      if (this.#state !== "lame-duck") {
        void drained.shut();
      }
    }
    return this;
  }

  ready(): void {
    this.#dispatch("ready");
  }

  onTeardown(name: string, hook: TeardownHook): Undo {
    return this.#teardown.add(name, hook);
  }

  task<T>(name: string, work: (signal: AbortSignal) => Promise<T> | T, options?: TaskOptions): Promise<T> {
    const running = this.#tasks.run(name, work, options);
    // The caller may ignore the promise: failures are counted, and told here.
    running.catch((error: unknown) => {
      this.#say(`task '${name}' ended: ${describeError(error)}`);
    });
    return running;
  }

  handler<Rest extends unknown[], Result>(
    handler: (request: IncomingMessage, response: ServerResponse, ...rest: Rest) => Result,
  ): (request: IncomingMessage, response: ServerResponse, ...rest: Rest) => Result {
    if ((this.#options.boundary ?? "response") === "response") {
      return handler;
    }
    return (request, response, ...rest) => {
      const result = handler(request, response, ...rest);
      const exchange = exchangeOf(request);
      if (exchange === undefined || !(result instanceof Promise)) {
        return result;
      }
      exchange.open += 1;
      // Given back in place of the handler's own promise, so that a rejection is still the caller's to handle.
      return result.finally(() => this.#admission.settle(exchange)) as Result;
    };
  }

  requestSignal(request: IncomingMessage): AbortSignal {
    const exchange = exchangeOf(request);
    if (exchange === undefined) {
      return this.#nearDeadline.signal;
    }
    const signal = exchange.signal();
    if (this.#nearDeadline.signal.aborted) {
      exchange.abort("The deadline is near.");
    }
    return signal;
  }

  remainingMs(): number {
    return this.#stop === null
      ? Number.POSITIVE_INFINITY
      : Math.max(0, this.#stop.deadline.at - this.#host.now());
  }

  shutdown(reason?: string): Promise<ShutdownRecord> {
    if (this.#stop === null) {
      this.#begin("shutdown", null, reason);
    }
    return this.#record;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposing = true;
    await this.shutdown("dispose");
  }

  // What asks it to stop.

  #heard(signal: NodeJS.Signals): void {
    if (this.#stop === null) {
      this.#begin("signal", signal, undefined);
      return;
    }
    const before = this.#state;
    this.#dispatch(signal === "SIGINT" ? "force" : "hurry");
    const effect =
      before === "lame-duck"
        ? "ended the drain delay"
        : signal === "SIGINT" && (before === "draining" || before === "teardown")
          ? "forced"
          : "ignored";
    const heard: SignalHeard = { signal, atMs: this.#sinceStop(), effect };
    this.#others.push(heard);
    this.#say(`${signal}: ${effect}`);
    this.events.emit("signal", heard);
  }

  #emptied(): void {
    if (this.#stop === null) {
      this.#begin("empty-loop", null, undefined);
    } else {
      this.#dispatch("empty-loop");
    }
  }

  #begin(reason: Stop["reason"], signal: NodeJS.Signals | null, why: string | undefined): void {
    const now = this.#host.now();
    // A person at a terminal does not wait for routers; a start-up that is cancelled has none yet.
    const skipDelay = this.#state === "starting" || (signal === "SIGINT" && this.#host.facts.terminal);
    const drainDelayMs = skipDelay ? 0 : this.budget.drainDelayMs;
    this.#stop = {
      reason,
      why,
      signal,
      at: this.#host.wallTime(),
      leaveOrder: this.#leaveOrder(now),
      foreign: this.#foreign(),
      deadline: beginDeadline(now, drainDelayMs, this.budget),
      drainingAt: null,
      teardownAt: null,
    };
    if (signal !== null) {
      this.events.emit("signal", { signal, atMs: 0, effect: "began the stop" });
    }
    this.#dispatch(reason === "empty-loop" ? "empty-loop" : "stop");
  }

  /** Asks the table, then carries out what it says. */
  #dispatch(event: LifeEvent): void {
    const from = this.#state;
    const step = transition(from, event);
    this.#state = step.to;
    if (step.to !== from) {
      const change = { from, to: step.to, atMs: this.#sinceStop() };
      this.events.emit("state", change);
      this.#host.publish("lastcall:state", change);
    }
    for (const effect of step.effects) {
      this.#effects[effect]();
    }
  }

  readonly #effects: Readonly<Record<Effect, () => void>> = {
    begin: () => this.#beginStop(),
    "start-delay": () => this.#startDelay(),
    "close-gate": () => this.#closeGate(),
    cut: () => this.#cut(),
    "tear-down": () => void this.#tearDown(),
    finish: () => void this.#finish(),
    "mark-forced": () => {
      this.#forced = true;
    },
  };

  // From t0 to the exit.

  #beginStop(): void {
    const stop = this.#began();
    this.#installed.push(this.#host.onUncaught((error) => this.#uncaught(error)));
    for (const server of this.#servers.values()) {
      server.begin();
    }
    if (stop.leaveOrder === "announce-first") {
      this.#announce();
    }
    const delay = stop.deadline.gateAt - stop.deadline.startedAt;
    const total = formatDuration(stop.deadline.at - stop.deadline.startedAt);
    this.#say(
      `${stop.signal ?? stop.reason}: not ready; ${delay > 0 ? `serving on for ${formatDuration(delay)}, ` : ""}deadline in ${total}; ${stop.leaveOrder}`,
    );
    this.#stopping.abort(new DOMException("The service is stopping.", "AbortError"));
  }

  #startDelay(): void {
    const delay = this.#began().deadline.gateAt - this.#host.now();
    if (delay <= 0) {
      this.#dispatch("delay-over");
    } else {
      this.#after(delay, () => this.#dispatch("delay-over"));
    }
  }

  #closeGate(): void {
    const stop = this.#began();
    this.#cancelTimers();
    const now = this.#host.now();
    stop.drainingAt = now;
    stop.deadline = closeGateAt(stop.deadline, now, this.budget);
    this.#startDeadline(stop.deadline, now);
    this.#startProgress();
    if (this.#options.admission === "respond") {
      this.#admission.gate = "closed";
      this.#announce();
      this.#checkDrained();
      return;
    }
    this.#admission.gate = "linger";
    this.#after(this.budget.lingerMs, () => {
      this.#admission.gate = "closed";
      this.#announce();
      this.#sweep();
    });
    this.#closeListeners();
  }

  #startDeadline({ abortAt, at }: Deadline, now: number): void {
    this.#after(abortAt - now, () => this.#fireAborts());
    this.#after(at - now, () => this.#dispatch("deadline"));
    const { taskTimeoutMs, gracefulTimeoutMs, abortWindowMs } = this.budget;
    if (taskTimeoutMs < gracefulTimeoutMs) {
      this.#after(taskTimeoutMs - abortWindowMs, () => this.#tasks.abortAll());
      this.#after(taskTimeoutMs, () => this.#tasks.close());
    }
  }

  #closeListeners(): void {
    const closed = [...this.#servers.values()].map((server) => server.shut());
    void Promise.all(closed).then(() => {
      this.#listenersClosed = true;
      this.#announce();
      this.#checkDrained();
    });
  }

  #announce(): void {
    for (const server of this.#servers.values()) {
      server.announce();
    }
  }

  #sweep(): void {
    for (const server of this.#servers.values()) {
      server.sweep();
    }
  }

  /** Something has ended; if it was the last thing, teardown begins. Called by events, never by a timer. */
  #checkDrained(): void {
    if (this.#state !== "draining" || this.#admission.inFlight.size > 0 || this.#tasks.size > 0) {
      return;
    }
    if (!this.#listenersClosed && this.#options.admission === "respond") {
      this.#closeListeners();
      this.#sweep();
      return;
    }
    if (this.#listenersClosed && this.#connections() === 0) {
      this.#dispatch("drained");
    }
  }

  #fireAborts(): void {
    this.#nearDeadline.abort(new DOMException("The deadline is near.", "AbortError"));
    for (const exchange of this.#admission.inFlight) {
      if (exchange instanceof HttpExchange) {
        exchange.abort("The deadline is near.");
      }
    }
    this.#tasks.abortAll();
  }

  #cut(): void {
    const stop = this.#began();
    this.#cancelTimers();
    stop.deadline = expireAt(stop.deadline, this.#host.now());
    this.#fireAborts();
    this.#admission.gate = "closed";
    this.#admission.fix();
    const expired = { requests: this.#admission.inFlight.size, tasks: this.#tasks.size };
    this.#cuts = [...this.#servers.values()].flatMap((server) => {
      void server.shut();
      return server.cut();
    });
    this.#tasks.close();
    if (expired.requests + expired.tasks > 0) {
      this.#say(`cut: ${expired.requests} requests and ${expired.tasks} tasks were unfinished`);
    }
    this.events.emit("expired", expired);
  }

  async #tearDown(): Promise<void> {
    const stop = this.#began();
    this.#cancelTimers();
    stop.teardownAt = this.#host.now();
    this.#admission.gate = "closed";
    this.#admission.fix();
    this.#tasks.close();
    this.#startProgress();
    await this.#teardown.run(this.budget.teardownTimeoutMs);
    this.#cancelTimers();
    this.#dispatch("torn-down");
  }

  async #finish(): Promise<void> {
    const host = this.#host;
    // What was cut has one poll to leave the process.
    await new Promise<void>((resolve) => {
      host.afterPoll(resolve);
    });
    this.#admin?.close();
    this.#admin?.closeAllConnections();
    if (this.budget.settleMs > 0) {
      await this.#settle();
    }
    await host.flushOutput(FLUSH_MS);
    const record = this.#makeRecord("lastcall", null);
    this.#write(record);
    this.#release();
    this.#resolveRecord(record);
    if (!this.#disposing) {
      host.exit(record.exitCode);
    }
  }

  #settle(): Promise<void> {
    return new Promise((resolve) => {
      const undo = [
        this.#host.onEmptyLoop(() => resolve()),
        this.#host.setTimer(this.budget.settleMs, resolve, true),
      ];
      this.#installed.push(...undo);
    });
  }

  // What can go wrong on the way.

  #uncaught(error: unknown): void {
    this.#errors.push(describeError(error));
    this.#say(`uncaught: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    if (this.#nearDeadline.signal.aborted) {
      // We told the handlers to give up; how they do so is no failure of the service (C2).
      return;
    }
    this.#failed = true;
    if (!this.#host.hasForeignUncaught()) {
      this.#dispatch("crash");
    }
  }

  #exitedByApp(code: number, stack: string): void {
    if (this.#state === "stopped" || this.#state === "starting") {
      return;
    }
    this.#stop ??= {
      reason: "exit",
      why: undefined,
      signal: null,
      at: this.#host.wallTime(),
      leaveOrder: this.#leaveOrder(this.#host.now()),
      foreign: this.#foreign(),
      deadline: beginDeadline(this.#host.now(), 0, this.budget),
      drainingAt: null,
      teardownAt: null,
    };
    this.#admission.fix();
    this.#tasks.close();
    this.#write(this.#makeRecord("app", { code, stack }));
    this.#state = "stopped";
  }

  // What it says.

  #makeRecord(
    endedBy: "lastcall" | "app",
    exit: { readonly code: number; readonly stack: string } | null,
  ): ShutdownRecord {
    const stop = this.#began();
    const now = this.#host.now();
    const requests = this.#admission.counts();
    const tasks = this.#tasks.report();
    const teardown = this.#teardown.reports();
    const incomplete =
      this.#forced ||
      requests.unfinished > 0 ||
      tasks.unfinished.length > 0 ||
      teardown.some((hook) => hook.outcome !== "done") ||
      (endedBy === "app" && this.#state !== "teardown");
    const outcome: Outcome = this.#failed ? "failed" : incomplete ? "incomplete" : "drained";
    const signalNumber = stop.signal === null ? null : (SIGNAL_NUMBERS[stop.signal] ?? null);
    const ownCode = exitCodeOf(outcome, this.#options.exitPolicy ?? "code", signalNumber);
    const natural = stop.reason === "empty-loop" && ownCode === 0 ? this.#host.pendingExitCode() : ownCode;
    const lameDuckEnd = stop.drainingAt ?? stop.teardownAt ?? now;
    const drainingEnd = stop.teardownAt ?? now;
    const cut =
      endedBy === "app"
        ? [...this.#admission.inFlight].map((exchange) => ({
            route: exchange.route(),
            startedAt: exchange.startedAt,
            how: "exit" as const,
          }))
        : this.#cuts;
    return {
      schema: "lastcall.record/1",
      pid: this.#host.facts.pid,
      node: this.#host.facts.node,
      at: stop.at,
      reason: stop.reason,
      ...(stop.why === undefined ? {} : { why: stop.why }),
      signal: stop.signal,
      others: this.#others,
      foreign: stop.foreign,
      leaveOrder: stop.leaveOrder,
      phases: {
        lameDuckMs: Math.round(lameDuckEnd - stop.deadline.startedAt),
        drainingMs: stop.drainingAt === null ? 0 : Math.round(drainingEnd - stop.drainingAt),
        teardownMs: stop.teardownAt === null ? 0 : Math.round(now - stop.teardownAt),
        totalMs: Math.round(now - stop.deadline.startedAt),
      },
      budget: this.budget,
      requests,
      unfinished: cut.map((one) => ({
        route: one.route,
        ageMs: Math.round(now - one.startedAt),
        cut: one.how,
      })),
      tasks: tasks.counts,
      unfinishedTasks: tasks.unfinished.map((task) => ({ ...task, ageMs: Math.round(task.ageMs) })),
      teardown,
      held: this.#host.holders(),
      errors: this.#errors,
      outcome,
      endedBy,
      ...(exit === null
        ? {}
        : {
            exitStack: exit.stack
              .split("\n")
              .map((line) => line.trim())
              .slice(0, 6),
          }),
      exitCode: exit?.code ?? natural,
    };
  }

  #write(record: ShutdownRecord): void {
    this.#host.writeRecord(formatRecord(record), this.#options.recordFile);
    this.events.emit("record", record);
    this.#host.publish("lastcall:record", record);
  }

  #startProgress(): void {
    this.#after(PROGRESS_MS, () => {
      const now = this.#host.now();
      const age = (startedAt: number): number => now - startedAt;
      const inTeardown = this.#state === "teardown";
      const endsAt = inTeardown
        ? (this.#stop?.teardownAt ?? now) + this.budget.teardownTimeoutMs
        : this.#began().deadline.at;
      this.#say(
        describeWaiting({
          phase: inTeardown ? "teardown" : "draining",
          remainingMs: endsAt - now,
          requests: inTeardown
            ? []
            : [...this.#admission.inFlight].map((one) => ({ name: one.route(), ageMs: age(one.startedAt) })),
          tasks: this.#tasks.open().map((one) => ({ name: one.name, ageMs: age(one.startedAt) })),
          connections: this.#connections(),
          hook: this.#teardown.running,
        }),
      );
      this.#startProgress();
    });
  }

  #describe(): unknown {
    return {
      state: this.#state,
      ready: isReady(this.#state, this.#options.readinessInLameDuck ?? "fail"),
      remainingMs: this.#stop === null ? null : Math.round(this.remainingMs()),
      requests: {
        ...this.#admission.counts(),
        inFlight: this.#admission.inFlight.size,
        unfinished: undefined,
      },
      tasks: { open: this.#tasks.size, ...this.#tasks.report().counts },
      connections: this.#connections(),
      teardown: { running: this.#teardown.running, done: this.#teardown.reports() },
      budget: this.budget,
    };
  }

  // Small things.

  #began(): Stop {
    if (this.#stop === null) {
      throw new Error("The stop has not begun; the table allows no such effect.");
    }
    return this.#stop;
  }

  #sinceStop(): number {
    return this.#stop === null ? 0 : Math.round(this.#host.now() - this.#stop.deadline.startedAt);
  }

  #signals(): readonly NodeJS.Signals[] {
    return (
      this.#options.signals ??
      (this.#host.facts.windows ? ["SIGTERM", "SIGINT", "SIGBREAK"] : ["SIGTERM", "SIGINT"])
    );
  }

  #foreign(): readonly string[] {
    return this.#signals()
      .map((signal) => ({ signal, others: this.#host.foreignListeners(signal) }))
      .filter(({ others }) => others > 0)
      .map(({ signal, others }) => `${signal}: ${others} other handler${others === 1 ? "" : "s"}`);
  }

  #leaveOrder(now: number): Stop["leaveOrder"] {
    const asked = this.#options.leaveOrder ?? "auto";
    if (asked !== "auto") {
      return asked;
    }
    const told = this.#platform.router || now - this.#readinessAskedAt <= READINESS_MEMORY_MS;
    return told ? "announce-first" : "listener-first";
  }

  #connections(): number {
    let open = 0;
    for (const server of this.#servers.values()) {
      open += server.connections();
    }
    return open;
  }

  #after(ms: number, run: () => void): void {
    this.#timers.push(this.#host.setTimer(Math.max(0, ms), run));
  }

  #cancelTimers(): void {
    this.#timers.splice(0).forEach((cancel) => cancel());
  }

  /** Gives back everything that was installed. */
  #release(): void {
    this.#cancelTimers();
    this.#installed.splice(0).forEach((remove) => remove());
    this.#servers.forEach((server) => server.detach());
  }

  #say(line: string): void {
    if ((this.#options.log ?? "text") === "text") {
      this.#host.writeLine(`lastcall: ${line}`);
    }
  }
}

/** For the policy `signal`. The numbers are POSIX's for those that it fixes, and Linux's for the rest. */
const SIGNAL_NUMBERS: Readonly<Partial<Record<NodeJS.Signals, number>>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGUSR1: 10,
  SIGUSR2: 12,
  SIGTERM: 15,
  SIGBREAK: 21,
};

function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
