/**
 * A host without a process, so that a shutdown can be tested without waiting: time stands still until `advance` moves
 * it, signals are sent by calling `signal`, and the exit code is there to be read.
 */

import type { ForeignListener, Host, HostFacts, Undo } from "./host.ts";
import type { ShutdownRecord } from "./record.ts";
import type { Watchdog } from "./watchdog.ts";

export type { Host, HostFacts } from "./host.ts";

interface FakeTimer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export interface FakeHostOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly facts?: Partial<HostFacts>;
}

/**
 * @example
 * const host = new FakeHost();
 * const life = createLifecycle({ drainDelayMs: 5000 }, host);
 * life.ready();
 * host.signal("SIGTERM");
 * await host.advance(5000);
 * await life.shutdown();
 * host.exitCode; // 0
 */
export class FakeHost implements Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly facts: HostFacts;
  readonly registry: Record<symbol, unknown> = {};
  /** What was said to people. */
  readonly lines: string[] = [];
  /** The lines that were written as records. */
  readonly recordLines: string[] = [];
  /** What was published on diagnostics channels. */
  readonly published: { readonly channel: string; readonly message: unknown }[] = [];
  /** The code that the process ended with; null while it lives. */
  exitCode: number | null = null;
  /** The app's own listeners of every stop signal. */
  foreign: readonly ForeignListener[] = [];
  /** What the watchdog was told. */
  readonly beats: { readonly limitMs: number; readonly record: string }[] = [];
  /** What systemd was told. */
  readonly toldSystemd: string[] = [];
  /** The messages that were sent to the parent. */
  readonly toldParent: string[] = [];
  /** What `holders()` answers. */
  held: readonly string[] = [];
  /** Whether the app itself listens for uncaught errors. */
  foreignUncaught = false;
  #now = 0;
  #wallShift = 0;
  #order = 0;
  #timers: FakeTimer[] = [];
  readonly #signals = new Map<string, Set<() => void>>();
  readonly #messages = new Set<() => void>();
  readonly #exits = new Set<(code: number, stack: () => string) => void>();
  readonly #emptyLoops = new Set<() => void>();
  readonly #uncaught = new Set<(error: unknown) => void>();

  constructor(options: FakeHostOptions = {}) {
    this.env = options.env ?? {};
    this.facts = {
      pid: 4242,
      node: "v0.0.0-fake",
      runtime: "node",
      windows: false,
      terminal: false,
      program: "/app/server.js",
      workerThread: false,
      threadId: 0,
      clusterWorker: false,
      systemdUnit: () => null,
      fileExists: () => false,
      ancestors: () => [],
      zombies: () => [],
      migratesConnections: () => false,
      ...options.facts,
    };
  }

  /** Sends a signal to the process. */
  signal(signal: NodeJS.Signals): void {
    for (const run of Array.from(this.#signals.get(signal) ?? [])) {
      run();
    }
  }

  /** The parent sends the message `shutdown`. */
  shutdownMessage(): void {
    for (const run of Array.from(this.#messages)) {
      run();
    }
  }

  /** An error that nobody caught. Returns false when it would have ended the process. */
  throwUncaught(error: unknown): boolean {
    for (const run of Array.from(this.#uncaught)) {
      run(error);
    }
    return this.#uncaught.size > 0 || this.foreignUncaught;
  }

  /** The app calls `process.exit(code)`. */
  exitByApp(code: number, stack = "at app"): void {
    for (const run of Array.from(this.#exits)) {
      run(code, () => stack);
    }
    this.exitCode = code;
  }

  /** The event loop has nothing left to do. */
  emptyLoop(): void {
    for (const run of Array.from(this.#emptyLoops)) {
      run();
    }
  }

  /** Moves time on by `ms`, timer by timer in their order, and lets promises settle in between. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await this.settle();
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await this.settle();
    }
    this.#now = until;
  }

  /** The event loop is blocked: time goes on and nothing runs. What fell due meanwhile runs, late, at the next `advance`. */
  stall(ms: number): void {
    this.#now += ms;
  }

  /** Somebody sets the clock: wall time jumps, and the monotonic clock does not. */
  jumpClock(ms: number): void {
    this.#wallShift += ms;
  }

  /** Lets promises that are ready settle, without moving time. A real turn of the loop: every microtask runs in it. */
  settle(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  /** The last record written. */
  get record(): ShutdownRecord {
    const line = this.recordLines.at(-1);
    if (line === undefined) {
      throw new Error("No record has been written yet: await life.shutdown() first.");
    }
    return JSON.parse(line) as ShutdownRecord;
  }

  now(): number {
    return this.#now;
  }

  wallTime(): string {
    return new Date(this.#now + this.#wallShift).toISOString();
  }

  setTimer(ms: number, run: () => void): Undo {
    this.#order += 1;
    const timer = { at: this.#now + Math.max(0, ms), order: this.#order, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  afterPoll(run: () => void): void {
    void Promise.resolve().then(run);
  }

  onSignal(signal: NodeJS.Signals, run: () => void): Undo {
    const listeners = this.#signals.get(signal) ?? new Set();
    this.#signals.set(signal, listeners);
    return keep(listeners, run);
  }

  foreignListeners(): readonly ForeignListener[] {
    return this.foreign;
  }

  onShutdownMessage(run: () => void): Undo {
    return keep(this.#messages, run);
  }

  tellParent(message: string): void {
    this.toldParent.push(message);
  }

  interceptStops(): Undo {
    return () => {};
  }

  interceptExit(): Undo {
    return () => {};
  }

  notifySystemd(assignments: readonly string[]): void {
    this.toldSystemd.push(...assignments);
  }

  cluster(): null {
    return null;
  }

  watchThreads(): Undo {
    return () => {};
  }

  startWatchdog(): Watchdog {
    return {
      beat: (limitMs, record) => void this.beats.push({ limitMs, record }),
      limit: (limitMs) => void this.beats.push({ limitMs, record: this.beats.at(-1)?.record ?? "" }),
      stop() {},
    };
  }

  fail(error: Error): void {
    this.throwUncaught(error);
  }

  onExit(run: (code: number, stack: () => string) => void): Undo {
    return keep(this.#exits, run);
  }

  onEmptyLoop(run: () => void): Undo {
    return keep(this.#emptyLoops, run);
  }

  onUncaught(run: (error: unknown) => void): Undo {
    return keep(this.#uncaught, run);
  }

  hasForeignUncaught(): boolean {
    return this.foreignUncaught;
  }

  writeLine(line: string): void {
    this.lines.push(line);
  }

  writeRecord(line: string): void {
    this.recordLines.push(line);
  }

  async flushOutput(): Promise<void> {}

  holders(): readonly string[] {
    return this.held;
  }

  pendingExitCode(): number {
    return 0;
  }

  exit(code: number): void {
    this.exitCode = code;
  }

  publish(channel: string, message: unknown): void {
    this.published.push({ channel, message });
  }

  #next(until: number): FakeTimer | undefined {
    return this.#timers
      .filter((timer) => timer.at <= until)
      .toSorted((a, b) => a.at - b.at || a.order - b.order)[0];
  }
}

function keep<T>(set: Set<T>, value: T): Undo {
  set.add(value);
  return () => void set.delete(value);
}
