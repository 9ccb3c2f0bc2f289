/**
 * The story of a stop, top to bottom in the order in which it happens: signal, drain delay, gate, drain, deadline,
 * teardown, record, exit. What happens when is decided by the table in `machine.ts`; here it is carried out. One class,
 * because the story is one: it is longer than other files for that reason alone.
 */

import { setMaxListeners, type EventEmitter } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Server as NetServer } from "node:net";
import { Admission } from "./admission.ts";
import { lingerOf, planBudget, type Budget } from "./budget.ts";
import { beginDeadline, closeGateAt, expireAt, type Deadline } from "./deadline.ts";
import { formatDuration } from "./duration.ts";
import { LastcallError } from "./errors.ts";
import type { Host, Undo } from "./host.ts";
import type { Lifecycle, LifecycleEvents } from "./life.ts";
import { isReady, transition, type Effect, type LifeEvent, type State } from "./machine.ts";
import type { LifecycleOptions } from "./options.ts";
import { platformOf, type Platform } from "./platform.ts";
import { ClusterStop } from "./platform/cluster.ts";
import { reusePortProblem } from "./platform/reuse-port.ts";
import * as systemd from "./platform/systemd.ts";
import { describeWrapper } from "./platform/wrapper.ts";
import type { Probe } from "./probes.ts";
import { AUTO_KEY, isReplaced, type AutoMode } from "./registry.ts";
import { formatRecord, type ShutdownRecord } from "./record.ts";
import { describeError, Reporter } from "./reporter.ts";
import type { DrainableServer } from "./servers/attach.ts";
import { Fleet } from "./servers/fleet.ts";
import { countUntilSettled } from "./servers/handler-boundary.ts";
import { exchangeOf } from "./servers/http-exchange.ts";
import {
  makeProbeHandler,
  openAdminPort,
  type ProbeHandler,
  type ProbeRequest,
} from "./servers/probe-handler.ts";
import { onListen, type ListenOptions } from "./servers/listen-channel.ts";
import { listenForSignals, stopSignals } from "./signals.ts";
import { startUpLines } from "./start-up.ts";
import { chooseLeaveOrder, type Stop } from "./stop.ts";
import type { StreamPolicy } from "./servers/streams.ts";
import { Tasks, type TaskOptions } from "./tasks.ts";
import { Teardown, type TeardownHook } from "./teardown.ts";
import { answerTime, Guard } from "./watchdog.ts";

/** E5: at least once a second; a little less, since timers are late and never early. */
const PROGRESS_MS = 900;

/** What may pass between the end of teardown and the end of the record. */
const EXIT_MS = 1500;

const NAMED_ZOMBIES = 5;

/** How long other people's queued output is waited for before the record. */
const FLUSH_MS = 100;

export class LifecycleCore implements Lifecycle {
  readonly budget: Budget;
  readonly events: EventEmitter<LifecycleEvents>;
  readonly #options: LifecycleOptions;
  readonly #host: Host;
  readonly #platform: Platform;
  readonly #admission: Admission;
  readonly #tasks: Tasks;
  readonly #teardown: Teardown;
  readonly #fleet: Fleet;
  readonly #admin: Server | null;
  readonly #guard: Guard;
  readonly #workers: ClusterStop;
  readonly #report: Reporter;
  /** Servers that listen in a way that loses connections, and were not given to us yet. */
  readonly #reusingPort = new WeakMap<object, LastcallError>();
  readonly #stopping = new AbortController();
  /** For requests that no attached server knows. */
  readonly #nearDeadline = new AbortController();
  readonly #signals: readonly NodeJS.Signals[];
  readonly #ignoreSignals: Undo;
  readonly #installed: Undo[] = [];
  readonly #timers: Undo[] = [];
  readonly #onGateClosed: (() => void)[] = [];
  readonly #onDrained: (() => void)[] = [];
  readonly #probes: ProbeHandler;
  readonly #record: Promise<ShutdownRecord>;
  #resolveRecord: (record: ShutdownRecord) => void = () => {};
  #state: State = "starting";
  #stop: Stop | null = null;
  #disposing = false;
  /** The idle connections are the exit's, see `#endLinger`. */
  #leavesCrowd = false;
  #areProbesTaken = false;
  #readinessAskedAt = Number.NEGATIVE_INFINITY;

  /** `options` have been read and checked one by one; here they are checked against each other. */
  constructor(options: LifecycleOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    this.#platform = platformOf(host);
    const { budget, sources } = planBudget(options, this.#platform);
    this.budget = budget;
    this.#admission = new Admission(() => this.#checkDrained());
    this.#tasks = new Tasks(host, () => this.#checkDrained());
    this.#teardown = new Teardown(host);
    this.#workers = new ClusterStop(host, () => this.#checkDrained());
    this.#report = new Reporter({
      host,
      options,
      budget,
      admission: this.#admission,
      tasks: this.#tasks,
      teardown: this.#teardown,
      workers: this.#workers,
      fleet: () => this.#fleet,
      state: () => this.#state,
      isReady: () => this.#isReady(),
      stop: () => this.#stop,
    });
    this.events = this.#report.events;
    this.#record = new Promise((resolve) => {
      this.#resolveRecord = resolve;
    });
    // Node 20 warns at the eleventh listener of one signal; a service may well have a hundred streams.
    setMaxListeners(0, this.#stopping.signal, this.#nearDeadline.signal);

    this.#guard = new Guard(host, {
      limitMs: () => this.#limitMs(),
      record: () => formatRecord(this.#report.recordIfCut(this.#began())),
      failed: (why) =>
        this.#report.say(
          `warning: no watchdog, so a blocked event loop is not ended at the deadline: ${why}`,
        ),
    });
    const view = {
      isReady: () => this.#isReady(),
      describe: () => this.#report.describe(),
    };
    this.#probes = makeProbeHandler(options.probePaths ?? {}, view, (request, probe) =>
      this.noteProbe(request, probe),
    );
    this.#fleet = new Fleet({
      host,
      admission: this.#admission,
      probes: this.#probes,
      areProbesTaken: () => this.#areProbesTaken,
      spread: options.announce === "spread",
      announceWindowMs: () =>
        this.#state === "lame-duck" ? this.#began().deadline.gateAt - host.now() : budget.lingerMs,
      // The rest is for what has come by then to be finished. Past the deadline the exit ends it.
      emptyingMs: () => this.remainingMs() / 2 || Number.POSITIVE_INFINITY,
      onConnection: () => this.#startGuard(),
      onQuiet: () => this.#checkDrained(),
    });
    // Signals, the platform and the probes of the process are the main thread's.
    const isThread = host.facts.workerThread;
    const adminHost = options.adminHost ?? (this.#platform.remoteProbes ? undefined : "127.0.0.1");
    this.#admin =
      options.adminPort === undefined || isThread
        ? null
        : openAdminPort(options.adminPort, adminHost, this.#probes, (error) => host.fail(error));
    // Probes alone are no reason to stay alive.
    this.#admin?.unref();

    this.#signals = stopSignals(options.signals, host.facts);
    this.#ignoreSignals = listenForSignals(host, this.#signals, (signal) => this.#heard(signal));
    this.#installed.push(
      ...(this.#platform.messages || host.facts.windows
        ? [host.onShutdownMessage(() => void this.shutdown("shutdown message"))]
        : []),
      host.onEmptyLoop(() => this.#emptied()),
      host.onExit((code, stack) => this.#exitedByApp(code, stack)),
      ...(host.registry[AUTO_KEY] === undefined ? [onListen((...listen) => this.#checkPort(...listen))] : []),
    );
    if (isThread) {
      return;
    }
    this.#installed.push(host.watchThreads());
    const wrapper = describeWrapper(host.facts.ancestors());
    for (const line of startUpLines({ options, budget, sources, env: host.env, wrapper })) {
      this.#report.say(line);
    }
  }

  get state(): State {
    return this.#state;
  }

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  // What the app does while it serves.

  /** Whoever takes it mounts it: a probe that is first asked for after the gate must not be refused as work. */
  get probes(): ProbeHandler {
    this.#areProbesTaken = true;
    return this.#probes;
  }

  http(server: DrainableServer): this {
    const problem = this.#reusingPort.get(server);
    if (problem !== undefined) {
      throw problem;
    }
    this.#fleet.add(server);
    return this;
  }

  ready(): void {
    if (this.#state === "starting") {
      this.#notifySystemd(systemd.READY);
      if (this.#platform.messages) {
        // pm2's `wait_ready`.
        this.#host.tellParent("ready");
      }
    }
    this.#dispatch("ready");
  }

  onTeardown(name: string, hook: TeardownHook): Undo {
    return this.#teardown.add(name, hook);
  }

  task<T>(name: string, work: (signal: AbortSignal) => Promise<T> | T, options?: TaskOptions): Promise<T> {
    const running = this.#tasks.run(name, work, options);
    // The caller may ignore the promise: failures are counted, and told here.
    running.catch((error: unknown) => {
      this.#report.say(`task '${name}' ended: ${describeError(error)}`);
    });
    return running;
  }

  handler<Rest extends unknown[], Result>(
    handler: (request: IncomingMessage, response: ServerResponse, ...rest: Rest) => Result,
  ): (request: IncomingMessage, response: ServerResponse, ...rest: Rest) => Result {
    return this.#options.boundary === "handler" ? countUntilSettled(handler, this.#admission) : handler;
  }

  requestSignal(request: IncomingMessage | Http2ServerRequest): AbortSignal {
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

  stream(
    response: ServerResponse | Http2ServerResponse,
    policy: StreamPolicy,
    lastChunk?: string,
  ): AbortSignal {
    return this.#fleet.streams.add(response, policy, lastChunk);
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
    (this.#host.registry[AUTO_KEY] as AutoMode | undefined)?.shutdownAsked?.();
    return this.#record;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A stop that began otherwise ends the process as it would have: `await using` in a program that waits for its signal.
    this.#disposing ||= this.#stop === null;
    await this.shutdown("dispose");
  }

  // What asks it to stop.

  #heard(signal: NodeJS.Signals): void {
    if (this.#stop === null) {
      this.#begin("signal", signal, undefined);
      return;
    }
    const before = this.#state;
    // After `shutdown()` the platform's own signal says nothing new; a further one does.
    const joins = this.#stop.signal === null;
    if (joins) {
      this.#stop.signal = signal;
      // The platform wants the process to end, whatever the app would have gone on with.
      this.#disposing = false;
    } else {
      this.#workers.pass(signal);
      this.#dispatch(signal === "SIGINT" ? "force" : "hurry");
    }
    const effect = joins
      ? "joined the stop"
      : before === "lame-duck"
        ? "ended the drain delay"
        : signal === "SIGINT" && (before === "draining" || before === "teardown")
          ? "forced"
          : "ignored";
    this.#report.heard({ signal, atMs: this.#sinceStop(), effect });
  }

  #emptied(): void {
    if (this.#stop === null) {
      this.#begin("empty-loop", null, undefined);
    } else {
      this.#dispatch("empty-loop");
    }
  }

  #begin(reason: Stop["reason"], signal: NodeJS.Signals | null, why: string | undefined): void {
    if (this.#state === "starting" && this.#workers.isPrimary()) {
      // Its workers serve, or will; it has no servers of its own to be ready with.
      this.#dispatch("ready");
    }
    // A person at a terminal does not wait for routers; a start-up that is cancelled has none yet; and where another copy
    // accepts from the same socket already, routers go on sending to both.
    const skipDelay =
      this.#state === "starting" ||
      isReplaced(this.#host) ||
      (signal === "SIGINT" && this.#host.facts.terminal);
    const drainDelayMs = skipDelay ? 0 : this.budget.drainDelayMs;
    this.#stop = this.#newStop(reason, signal, why, drainDelayMs);
    if (signal !== null) {
      this.#report.tell("signal", { signal, atMs: 0, effect: "began the stop" });
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
      this.#report.tell("state", change);
      this.#host.publish("lastcall:state", change);
    }
    for (const effect of step.effects) {
      this.#effects[effect]();
    }
    this.#guard.moved();
  }

  readonly #effects: Readonly<Record<Effect, () => void>> = {
    begin: () => this.#beginStop(),
    "start-delay": () => this.#startDelay(),
    "close-gate": () => this.#closeGate(),
    cut: () => this.#cut(),
    "tear-down": () => void this.#tearDown(),
    finish: () => void this.#finish(),
    "mark-forced": () => {
      this.#report.forced = true;
    },
  };

  // From t0 to the exit.

  #beginStop(): void {
    const stop = this.#began();
    this.#installed.push(this.#host.onUncaught((error) => this.#uncaught(error)));
    this.#fleet.begin();
    this.#beginWorkers();
    // Starting a helper takes milliseconds; the signal has things to do first.
    this.#host.afterPoll(() => {
      this.#notifySystemd(systemd.stopping(this.remainingMs(), this.#options.gracePeriodMs));
      this.#nameZombies();
    });
    if (stop.leaveOrder === "announce-first") {
      this.#fleet.announce();
    }
    const delay = stop.deadline.gateAt - stop.deadline.startedAt;
    const total = formatDuration(stop.deadline.at - stop.deadline.startedAt);
    this.#report.say(
      `${stop.signal ?? stop.reason}: not ready; ${delay > 0 ? `serving on for ${formatDuration(delay)}, ` : ""}deadline in ${total}; ${stop.leaveOrder}`,
    );
    if (stop.signal !== null && stop.foreign.length > 0 && this.#host.registry[AUTO_KEY] === undefined) {
      this.#report.say(`warning: others handle it at once, and may cut requests: ${stop.foreign.join("; ")}`);
    }
    this.#stopping.abort(new DOMException("The service is stopping.", "AbortError"));
    if (delay > 0 || this.#hasWork()) {
      this.#startGuard();
    }
  }

  #startGuard(): void {
    const { recordFile } = this.#options;
    this.#guard.start({ recordFile, answerMs: answerTime(this.budget.teardownTimeoutMs) });
  }

  #nameZombies(): void {
    const zombies = this.#host.facts.zombies();
    if (zombies.length > 0) {
      const what = `As PID 1 this process has inherited ${zombies.length} processes that have ended and that Node does not reap: ${zombies.slice(0, NAMED_ZOMBIES).join(", ")}.`;
      this.#report.say(`warning: ${new LastcallError("LASTCALL_ZOMBIES", what).message}`);
    }
  }

  #checkPort(server: NetServer, listen: ListenOptions | undefined): void {
    const problem = reusePortProblem(listen, this.#host.facts);
    if (problem !== null && this.#fleet.has(server)) {
      this.#host.fail(problem);
    } else if (problem !== null) {
      this.#reusingPort.set(server, problem);
    }
  }

  #notifySystemd(assignments: readonly string[]): void {
    this.#host.notifySystemd(assignments, (why) => this.#report.say(`warning: systemd was not told: ${why}`));
  }

  #beginWorkers(): void {
    const undo = this.#workers.begin();
    if (undo !== null) {
      this.#installed.push(undo);
      this.#teardown.add("workers", () => this.#workers.end());
    }
  }

  /**
   * What could block the loop: without any of it a stop is over sooner than a thread is started. Who comes by the accept
   * queue starts it, too.
   */
  #hasWork(): boolean {
    return this.#fleet.connections() + this.#tasks.size + this.#teardown.pending().length > 0;
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
    if (isReplaced(this.#host)) {
      // Whoever asks at the shared admin port means the copy that serves.
      this.#admin?.close();
    }
    const now = this.#host.now();
    stop.drainingAt = now;
    stop.deadline = closeGateAt(stop.deadline, now, this.budget);
    this.#startDeadline(stop.deadline, now);
    this.#startProgress();
    if (this.#options.admission === "respond") {
      this.#shutGate();
      this.#fleet.streams.gate();
      this.#checkDrained();
      return;
    }
    this.#admission.gate = "linger";
    void this.#linger(now);
  }

  /** From the gate on; whoever the accept queue has given up since has the whole window, too. */
  async #linger(gateAt: number): Promise<void> {
    const lingerMs = lingerOf(this.budget, this.#options, isReplaced(this.#host));
    const someCame = await this.#fleet.shut();
    const now = this.#host.now();
    if (this.#state === "draining") {
      this.#after((someCame ? now : gateAt) + lingerMs - now, () => {
        // A loop that is late has requests to read that came within the window (A5).
        this.#host.afterPoll(() => this.#closeWindow());
      });
    }
  }

  /** What came within the linger window, or by the listener, has been let in. */
  #closeWindow(): void {
    if (this.#state !== "draining") {
      return;
    }
    this.#shutGate();
    this.#host.afterPoll(() => this.#endLinger());
  }

  #shutGate(): void {
    this.#admission.gate = "closed";
    this.#fleet.announce();
    this.#onGateClosed.splice(0).forEach((run) => run());
  }

  /**
   * Idle connections are ended. Of a crowd of them the exit takes care, when it comes at once: closing ten thousand one
   * by one takes half a second, and until then a late request on one of them meets a clean 503 instead of a reset.
   */
  #endLinger(): void {
    const work = this.#admission.inFlight.size + this.#tasks.size;
    const leaves = !this.#disposing && this.budget.settleMs === 0;
    if (work === 0 && leaves && this.#fleet.listeners === "closed" && this.#fleet.isIdleCrowd()) {
      this.#leavesCrowd = true;
      this.#drained();
    } else {
      this.#fleet.sweep();
    }
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

  /** Something has ended; if it was the last thing, teardown begins. Called by events, never by a timer. */
  #checkDrained(): void {
    if (
      this.#state !== "draining" ||
      this.#admission.inFlight.size > 0 ||
      this.#tasks.size > 0 ||
      this.#workers.alive > 0
    ) {
      return;
    }
    if (this.#fleet.listeners === "open") {
      // Mode `respond` keeps answering until the work is done, and on old connections to the end of the linger window.
      void this.#linger(this.#began().drainingAt ?? this.#host.now());
    } else if (this.#fleet.listeners === "closed") {
      if (this.#fleet.connections() === 0 || (this.#leavesCrowd && this.#fleet.isIdleCrowd())) {
        this.#drained();
      } else if (this.#leavesCrowd) {
        this.#fleet.sweep();
      }
    }
  }

  #drained(): void {
    this.#onDrained.splice(0).forEach((run) => run());
    if (this.#tasks.size === 0) {
      this.#dispatch("drained");
    }
  }

  #fireAborts(): void {
    this.#nearDeadline.abort(new DOMException("The deadline is near.", "AbortError"));
    this.#fleet.abort("The deadline is near.");
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
    this.#report.cuts = this.#fleet.cut();
    this.#tasks.close();
    if (expired.requests + expired.tasks > 0) {
      this.#report.say(`cut: ${expired.requests} requests and ${expired.tasks} tasks were unfinished`);
    }
    this.#report.tell("expired", expired);
  }

  async #tearDown(): Promise<void> {
    const stop = this.#began();
    this.#cancelTimers();
    stop.teardownAt = this.#host.now();
    this.#notifySystemd(systemd.TEARDOWN);
    this.#admission.gate = "closed";
    this.#admission.fix();
    if (this.#report.cuts.length === 0) {
      // The loop has emptied and nobody can settle them any more.
      this.#report.cuts = this.#report.unfinished("handler");
    }
    this.#tasks.close();
    this.#startProgress();
    await this.#teardown.run(this.budget.teardownTimeoutMs);
    this.#cancelTimers();
    this.#dispatch("torn-down");
  }

  async #finish(): Promise<void> {
    const host = this.#host;
    if (this.budget.settleMs === 0) {
      // No code of the app is waited for any more.
      this.#guard.stop();
    }
    // What was cut has one poll to leave the process, and what the app has thrown to be heard of.
    await new Promise<void>((resolve) => {
      host.afterPoll(resolve);
    });
    this.#admin?.close();
    this.#admin?.closeAllConnections();
    if (this.budget.settleMs > 0) {
      await this.#settle();
    }
    await host.flushOutput(FLUSH_MS);
    if (this.#report.recorded) {
      // The app has ended the process while we waited.
      return;
    }
    const record = this.#report.record(this.#began());
    this.#report.write(record);
    this.#guard.stop();
    this.#resolveRecord(record);
    if (!this.#disposing) {
      // Nothing is given back first: a process that is gone needs none of it.
      host.exit(record.exitCode);
    }
    this.#release();
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
    this.#report.error(error);
    this.#report.say(`uncaught: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    if (this.#nearDeadline.signal.aborted) {
      // We told the handlers to give up; how they do so is no failure of the service (C2).
      return;
    }
    this.#report.failed = true;
    if (!this.#host.hasForeignUncaught()) {
      this.#dispatch("crash");
    }
  }

  #exitedByApp(code: number, stack: () => string): void {
    if (this.#report.recorded || this.#state === "starting") {
      return;
    }
    this.#stop ??= this.#newStop("exit", null, undefined, 0);
    // Once teardown has begun all work is done, or counted as unfinished.
    const early = this.#state !== "teardown" && this.#state !== "stopped";
    // First, so that the end of the last task begins no teardown: nothing runs any more.
    this.#state = "stopped";
    this.#admission.fix();
    if (early) {
      this.#report.cuts = this.#report.unfinished("exit");
    }
    this.#tasks.close();
    this.#report.write(this.#report.record(this.#stop, { code, stack: stack(), early }));
    this.#guard.stop();
  }

  // What it says.

  #startProgress(): void {
    const tell = (): void => {
      this.#report.sayProgress(this.#began());
      this.#startProgress();
    };
    // A drain waits for events that come from outside; a teardown with an empty loop is over.
    this.#after(PROGRESS_MS, tell, this.#state === "teardown");
  }

  // Small things.

  #began(): Stop {
    if (this.#stop === null) {
      throw new Error("The stop has not begun; the table allows no such effect.");
    }
    return this.#stop;
  }

  #isReady(): boolean {
    return isReady(this.#state, this.#options.readinessInLameDuck ?? "fail");
  }

  /** A probe is no work, and whoever asks for readiness will hear of the stop. */
  readonly noteProbe = (request: ProbeRequest, probe: Probe): void => {
    if (probe === "ready") {
      this.#readinessAskedAt = this.#host.now();
    }
    this.#fleet.noteProbe(request);
  };

  /** For auto mode, whose app says nothing of its streams. */
  readonly eventStreams = (): readonly ServerResponse[] => this.#fleet.eventStreams();

  /** For auto mode: when the gate has closed for the old connections, too, an app that refuses loses no request. */
  readonly onGateClosed = (run: () => void): void => void this.#onGateClosed.push(run);

  /** For auto mode: nothing is in flight; a task that `run` begins is waited for like any other. */
  readonly onDrained = (run: () => void): void => void this.#onDrained.push(run);

  /** For the watchdog, which calls it in the paused thread: the record as of now. */
  readonly beat = (): void => this.#guard.beat();

  /** Until when the phase must be over, from now. */
  #limitMs(): number {
    const now = this.#host.now();
    if (this.#state === "stopped") {
      return this.budget.settleMs + EXIT_MS;
    }
    return this.#stop?.teardownAt == null
      ? this.remainingMs()
      : this.#stop.teardownAt + this.budget.teardownTimeoutMs - now;
  }

  #sinceStop(): number {
    return this.#stop === null ? 0 : Math.round(this.#host.now() - this.#stop.deadline.startedAt);
  }

  #foreign(): readonly string[] {
    return this.#signals
      .map((signal) => ({ signal, others: this.#host.foreignListeners(signal) }))
      .filter(({ others }) => others.length > 0)
      .map(({ signal, others }) => `${signal}: ${others.map(({ name }) => name).join(", ")}`);
  }

  #newStop(
    reason: Stop["reason"],
    signal: NodeJS.Signals | null,
    why: string | undefined,
    drainDelayMs: number,
  ): Stop {
    const now = this.#host.now();
    return {
      reason,
      why,
      signal,
      at: this.#host.wallTime(),
      leaveOrder: chooseLeaveOrder(this.#options.leaveOrder, this.#platform, now - this.#readinessAskedAt),
      foreign: this.#foreign(),
      deadline: beginDeadline(now, drainDelayMs, this.budget),
      drainingAt: null,
      teardownAt: null,
    };
  }

  #after(ms: number, run: () => void, unref = false): void {
    this.#timers.push(this.#host.setTimer(Math.max(0, ms), run, unref));
  }

  #cancelTimers(): void {
    this.#timers.splice(0).forEach((cancel) => cancel());
  }

  /** Gives back everything that was installed. */
  #release(): void {
    this.#cancelTimers();
    this.#installed.splice(0).forEach((remove) => remove());
    if (this.#disposing) {
      // Before an exit they stay ours: a signal that nobody listens for would end the process in place of its exit code.
      this.#ignoreSignals();
    }
    this.#fleet.detach();
  }
}
