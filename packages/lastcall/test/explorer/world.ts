/**
 * One life with everything that can happen to it: the real lifecycle on a fake host, a server without sockets, tasks and
 * hooks. Beside each of them stands what the outside knows about it, from which `oracle.ts` says what must be true.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { createLifecycle } from "../../src/create.ts";
import type { Undo } from "../../src/host.ts";
import type { Lifecycle, StateChange } from "../../src/life.ts";
import type { LifecycleOptions } from "../../src/options.ts";
import { SILENCE_MS } from "../../src/signals.ts";
import { FakeHost } from "../../src/testing.ts";
import type { ProbeHandler } from "../../src/servers/probe-handler.ts";
import { FakeServer, type FakeResponse } from "./fake-server.ts";

export interface Setup {
  readonly name: string;
  readonly options: LifecycleOptions;
  readonly terminal?: boolean;
}

interface PendingTimer {
  readonly at: number;
  readonly name: string;
}

/** A fake host that shows its timers and counts exits. */
export class ExploredHost extends FakeHost {
  readonly timers: Set<PendingTimer> = new Set();
  exits = 0;
  exitedAt = 0;

  override setTimer(ms: number, run: () => void): Undo {
    const timer = { at: this.now() + Math.max(0, ms), name: String(run) };
    this.timers.add(timer);
    const cancel = super.setTimer(ms, () => {
      this.timers.delete(timer);
      run();
    });
    return () => {
      this.timers.delete(timer);
      cancel();
    };
  }

  override exit(code: number): void {
    this.exits += 1;
    this.exitedAt = this.now();
    super.exit(code);
  }

  override exitByApp(code: number): void {
    this.exitedAt = this.now();
    super.exitByApp(code);
  }

  /** Until the next timer; null when there is none. */
  untilNext(): number | null {
    const next = Math.min(...[...this.timers].map(({ at }) => at));
    return Number.isFinite(next) ? Math.max(0, next - this.now()) : null;
  }
}

export interface Asked {
  readonly response: FakeResponse;
  readonly isProbe: boolean;
  /** A refusal of it counts: it is work. */
  readonly isCounted: boolean;
  /** What the gate should have done with it. */
  readonly mayRun: boolean | null;
  ran: boolean;
  handlerSettled: boolean;
  settleHandler: () => void;
}

export interface Task {
  readonly name: string;
  readonly kind: "abort" | "abandon" | "gives up";
  readonly refused: boolean;
  signal: AbortSignal | null;
  /** How it ended by itself; `gave up`: it had been told before. */
  end: "resolved" | "rejected" | "gave up" | null;
  resolve: () => void;
  reject: (error: Error) => void;
}

export interface Hook {
  readonly name: string;
  readonly kind: "returns" | "hangs" | "throws" | "slow";
  settled: "done" | "failed" | null;
  settle: () => void;
  /** What the record must say of it; known when its successor starts or teardown ends. */
  outcome: "done" | "failed" | "timed out" | null;
}

export interface Fates {
  readonly accepted: number;
  readonly completed: number;
  readonly clientGone: number;
  readonly unfinished: number;
  readonly tasks: Readonly<Record<"completed" | "failed" | "aborted" | "abandoned", number>>;
}

export class World {
  readonly setup: Setup;
  readonly host: ExploredHost;
  readonly #probes: ProbeHandler;
  readonly life: Lifecycle;
  readonly server: FakeServer = new FakeServer();
  readonly changes: StateChange[] = [];
  readonly asked: Asked[] = [];
  readonly tasks: Task[] = [];
  /** Not yet run, the next to run last. */
  readonly hookStack: Hook[] = [];
  readonly hooksRun: Hook[] = [];
  readonly breaches: string[] = [];
  /** Whose heads were out before the stop. */
  readonly headsBeforeStop: Set<Asked> = new Set();
  /** What must have come of the signals after the first. */
  readonly others: { readonly signal: string; readonly atMs: number; readonly effect: string }[] = [];
  lastSignalAt: number = Number.NEGATIVE_INFINITY;
  reason: "signal" | "shutdown" | "empty-loop" | "exit" | null = null;
  signalName: string | null = null;
  t0: number | null = null;
  drainingAt: number | null = null;
  teardownAt: number | null = null;
  /** When draining must end. */
  deadline: number = Number.POSITIVE_INFINITY;
  hurried: boolean = false;
  cutShort = false;
  forced = false;
  failed = false;
  uncaught = 0;
  /** Time that the loop was blocked since t0, and whether what fell due in it is still to run. */
  stalledMs = 0;
  late = false;
  fates: Fates | null = null;
  openAtTeardown = 0;
  appExit: number | null = null;
  /** How often the loop was empty while the last hook ran. */
  emptied = 0;
  #names = 0;

  constructor(setup: Setup) {
    this.setup = setup;
    this.host = new ExploredHost({ facts: { terminal: setup.terminal ?? false } });
    this.life = createLifecycle(setup.options, this.host);
    // As an app does, which mounts them before anybody asks.
    this.#probes = this.life.probes;
    this.life.events.on("state", (change) => this.#changed(change));
    this.server.on("request", (request: IncomingMessage, response: ServerResponse) =>
      this.#app(request, response),
    );
    this.life.http(this.server.asHttp);
  }

  get over(): boolean {
    return this.host.exitCode !== null;
  }

  get stopping(): boolean {
    return this.t0 !== null;
  }

  /** The window lasts for as long as the listener does, which stays a while when somebody came by it after the gate (A8). */
  get inLinger(): boolean {
    const { admission, lingerMs = 0 } = this.setup.options;
    const { drainingAt } = this;
    return (
      admission !== "respond" &&
      drainingAt !== null &&
      (this.host.now() < drainingAt + lingerMs || this.server.listening)
    );
  }

  isDone(one: Asked): boolean {
    const byHandler = this.setup.options.boundary === "handler" && one.ran;
    return one.response.isClosed && (!byHandler || one.handlerSettled);
  }

  inFlight(): readonly Asked[] {
    return this.asked.filter((one) => one.ran && !one.isProbe && !this.isDone(one));
  }

  openTasks(): readonly Task[] {
    return this.tasks.filter((task) => task.end === null && !task.refused);
  }

  signal(signal: "SIGTERM" | "SIGINT"): void {
    const now = this.host.now();
    const isNew = now - this.lastSignalAt >= SILENCE_MS;
    this.lastSignalAt = now;
    if (isNew && !this.stopping) {
      this.reason = "signal";
      this.signalName = signal;
    } else if (isNew) {
      this.#further(signal, now - (this.t0 ?? now));
    }
    this.host.signal(signal);
  }

  #further(signal: "SIGTERM" | "SIGINT", atMs: number): void {
    const { state } = this.life;
    if (this.signalName === null) {
      this.signalName = signal;
      this.others.push({ signal, atMs, effect: "joined the stop" });
    } else if (state === "lame-duck") {
      this.hurried = true;
      this.others.push({ signal, atMs, effect: "ended the drain delay" });
    } else if (signal === "SIGINT" && (state === "draining" || state === "teardown")) {
      this.forced = true;
      if (state === "draining") {
        this.cutShort = true;
        this.deadline = Math.min(this.deadline, this.host.now());
      }
      this.others.push({ signal, atMs, effect: "forced" });
    } else {
      this.others.push({ signal, atMs, effect: "ignored" });
    }
  }

  begin(reason: "shutdown" | "empty-loop"): void {
    if (!this.stopping) {
      this.reason = reason;
      this.cutShort = reason === "empty-loop";
    }
    if (reason === "shutdown") {
      void this.life.shutdown();
    } else {
      this.emptied += 1;
      this.host.emptyLoop();
    }
  }

  throwUncaught(): void {
    if (this.stopping) {
      this.uncaught += 1;
      // What handlers throw when they were told to give up is no failure.
      if (!this.nearDeadline) {
        this.failed = true;
        if (this.life.state === "lame-duck" || this.life.state === "draining") {
          this.cutShort = true;
          this.deadline = Math.min(this.deadline, this.host.now());
        }
      }
    }
    this.host.throwUncaught(new Error("uncaught"));
  }

  /** The handlers have been told, which only an event that ran can have done. */
  get nearDeadline(): boolean {
    return this.life.requestSignal({} as IncomingMessage).aborted;
  }

  exitByApp(code: number): void {
    this.appExit = code;
    if (!this.stopping && this.life.state !== "starting") {
      this.reason = "exit";
      this.t0 = this.host.now();
    }
    this.fates ??= this.fatesNow();
    this.#endHooks();
    this.host.exitByApp(code);
  }

  ask(url: string): void {
    const socket = this.server.idle()[0] ?? this.server.open();
    const { state } = this.life;
    const before = state === "starting" || state === "serving" || state === "lame-duck";
    const mayRun = before || (state === "draining" && this.inLinger) ? true : this.late ? null : false;
    const isProbe = url === "/readyz";
    const one: Asked = {
      // Replaced before anything reads it: the app is called inside of ask().
      response: undefined as unknown as FakeResponse,
      isProbe,
      isCounted: !isProbe,
      mayRun,
      ran: false,
      handlerSettled: false,
      settleHandler: () => {},
    };
    this.asked.push(one);
    (one as { response: FakeResponse }).response = this.server.ask(socket, url);
  }

  #app(request: IncomingMessage, response: ServerResponse): void {
    const one = this.asked.at(-1);
    if (one === undefined) {
      return;
    }
    one.ran = true;
    if (this.#probes(request, response)) {
      return;
    }
    const run = this.life.handler(
      (_request: IncomingMessage, _response: ServerResponse) =>
        new Promise<void>((resolve) => {
          one.settleHandler = () => {
            one.handlerSettled = true;
            resolve();
          };
        }),
    );
    void run(request, response);
  }

  startTask(kind: Task["kind"]): void {
    const { state } = this.life;
    const task: Task = {
      name: `task ${(this.#names += 1)}`,
      kind,
      refused: state === "teardown" || state === "stopped",
      signal: null,
      end: null,
      resolve: () => {},
      reject: () => {},
    };
    this.tasks.push(task);
    const work = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        task.signal = signal;
        task.resolve = () => {
          task.end = "resolved";
          resolve();
        };
        task.reject = (error) => {
          task.end = signal.aborted ? "gave up" : "rejected";
          reject(error);
        };
        if (kind === "gives up") {
          const giveUp = (): void => task.reject(new Error("gave up"));
          signal.addEventListener("abort", giveUp);
          if (signal.aborted) {
            giveUp();
          }
        }
      });
    this.life
      .task(task.name, work, { onDeadline: kind === "abandon" ? "abandon" : "abort" })
      .catch((error: Error & { code?: string }) => {
        if ((error.code === "LASTCALL_STOPPING") !== task.refused) {
          this.breaches.push(`${task.name} was ${task.refused ? "taken" : "refused"} in ${state}`);
        }
      });
  }

  addHook(kind: Hook["kind"]): void {
    const hook: Hook = {
      name: `hook ${(this.#names += 1)}`,
      kind,
      settled: null,
      settle: () => {},
      outcome: null,
    };
    this.hookStack.push(hook);
    this.life.onTeardown(hook.name, () => {
      this.#endHooks();
      this.emptied = 0;
      if (this.hookStack.pop() !== hook) {
        this.breaches.push(`${hook.name} ran before one that was registered later`);
      }
      if (this.life.state !== "teardown") {
        this.breaches.push(`${hook.name} ran in ${this.life.state}`);
      }
      this.hooksRun.push(hook);
      if (kind === "throws") {
        hook.settled = "failed";
        throw new Error("planned");
      }
      if (kind === "returns") {
        hook.settled = "done";
        return;
      }
      return new Promise<void>((resolve) => {
        hook.settle = () => {
          hook.settled = "done";
          resolve();
        };
      });
    });
  }

  /** What has not settled by now has run out of time. */
  #endHooks(): void {
    const last = this.hooksRun.at(-1);
    if (last !== undefined && this.appExit === null) {
      last.outcome ??= last.settled ?? "timed out";
    } else if (last !== undefined) {
      last.outcome ??= last.settled;
    }
  }

  #changed(change: StateChange): void {
    this.changes.push(change);
    const now = this.host.now();
    const { drainDelayMs, gracefulTimeoutMs } = this.life.budget;
    if (this.t0 === null && change.to !== "serving") {
      this.t0 = now;
      this.asked
        .filter(({ response }) => response.headersSent)
        .forEach((one) => this.headsBeforeStop.add(one));
      const skips = change.from === "starting" || (this.signalName === "SIGINT" && this.setup.terminal);
      this.deadline = now + (skips ? 0 : drainDelayMs) + gracefulTimeoutMs;
      if (this.reason === null) {
        this.breaches.push(`it began to stop although nobody asked`);
      }
    }
    if (change.to === "draining") {
      this.drainingAt = now;
      this.deadline = Math.min(this.deadline, now + gracefulTimeoutMs);
    } else if (change.to === "teardown") {
      this.teardownAt = now;
      this.fates = this.fatesNow();
      this.openAtTeardown = this.server.sockets.size;
    } else if (change.to === "stopped") {
      this.#endHooks();
    }
  }

  fatesNow(): Fates {
    const work = this.asked.filter((one) => one.ran && !one.isProbe);
    const done = work.filter((one) => this.isDone(one));
    const taken = this.tasks.filter((task) => !task.refused);
    const count = (is: (task: Task) => boolean): number => taken.filter(is).length;
    return {
      accepted: work.length,
      completed: done.length,
      clientGone: done.filter(({ response }) => !response.writableFinished).length,
      unfinished: work.length - done.length,
      tasks: {
        completed: count(({ end }) => end === "resolved"),
        failed: count(({ end }) => end === "rejected"),
        aborted: count(({ end, kind }) => end === "gave up" || (end === null && kind !== "abandon")),
        abandoned: count(({ end, kind }) => end === null && kind === "abandon"),
      },
    };
  }
}
