/** The one seam to the system: time, signals, output and the exit come in through here. */

import type { Cluster } from "./platform/cluster.ts";
import type { SystemdUnit } from "./platform/systemd.ts";
import type { Ancestor } from "./platform/wrapper.ts";
import type { Watchdog, WatchdogPlan } from "./watchdog.ts";

/** Undoes what was set up: removes a listener or cancels a timer. Calling it twice is harmless. */
export type Undo = () => void;

/** What a lifecycle needs of the world. `node-host.ts` is the real one, `testing.ts` has a fake one. */
export interface Host {
  /** Monotonic milliseconds; the only clock that phases are measured with. */
  now(): number;
  /** ISO 8601 wall time, for people. */
  wallTime(): string;
  /** Calls back once after `ms`. The timer keeps the process alive unless `unref` is true. */
  setTimer(ms: number, run: () => void, unref?: boolean): Undo;
  /** Calls back after the event loop has polled for I/O: what was readable before has been read. */
  afterPoll(run: () => void): void;
  /** Listens for a signal. */
  onSignal(signal: NodeJS.Signals, run: () => void): Undo;
  /** Who else listens for the signal. */
  foreignListeners(stop: StopRequest): readonly ForeignListener[];
  /**
   * Asks `decide` when one of `signals` or the message `shutdown` comes; true keeps it from everybody but the library's
   * own listeners.
   */
  interceptStops(signals: readonly NodeJS.Signals[], decide: (stop: StopRequest) => boolean): Undo;
  /** Listens for the message `shutdown` of a parent that cannot send signals. Keeps nothing alive. */
  onShutdownMessage(run: () => void): Undo;
  /** Sends a message to the parent, if there is a channel. */
  tellParent(message: string): void;
  /**
   * Asks `hold` when the app ends the process, with the code, or null for a signal that it sends to itself; true makes
   * the call return instead. Our own `exit` is not asked about.
   */
  interceptExit(hold: (code: number | null) => boolean): Undo;
  /** The process is leaving with `code`, whoever asked for it; `stack` tells who. Synchronous. */
  onExit(run: (code: number, stack: () => string) => void): Undo;
  /** The event loop has nothing left to do. */
  onEmptyLoop(run: () => void): Undo;
  /** An error that nobody caught. While listened for, it does not end the process. */
  onUncaught(run: (error: unknown) => void): Undo;
  /** Whether somebody else listens for uncaught errors, so that the app itself decides what they mean. */
  hasForeignUncaught(): boolean;
  /** A line for people on standard error; dropped rather than waited for when nobody reads. */
  writeLine(line: string): void;
  /** The record: one line on standard error, and in `file` where one is given. Synchronous, bounded, never throws. */
  writeRecord(line: string, file: string | undefined): void;
  /** Waits until output that others have queued is out, at most `ms`. */
  flushOutput(ms: number): Promise<void>;
  /** What keeps the event loop alive, named as well as the runtime can; `clients` connections are known and not named. */
  holders(clients: number): readonly string[];
  /** The exit code that the app has set for a natural end. */
  pendingExitCode(): number;
  /** An error that no caller is there to catch: an uncaught one, for whoever listens for those. */
  fail(error: Error): void;
  /** Tells systemd, where it listens: `READY=1`. `failed` is called when that cannot be done. */
  notifySystemd(assignments: readonly string[], failed: (why: string) => void): void;
  /** The workers of this process: a cluster's, and the worker threads that have a lifecycle. Null where there are none. */
  cluster(): Cluster | null;
  /** Begins to notice worker threads that have a lifecycle. */
  watchThreads(): Undo;
  /** Starts the thread that ends the process when this thread is blocked, see `watchdog.ts`; `failed` when it cannot run. */
  startWatchdog(plan: WatchdogPlan, failed: (why: string) => void): Watchdog;
  /** Ends the process. A lifecycle calls it once, as the last thing. */
  exit(code: number): void;
  /** Publishes on a diagnostics channel. */
  publish(channel: string, message: unknown): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly facts: HostFacts;
  /** Where the process's one lifecycle is kept. */
  readonly registry: Record<symbol, unknown>;
}

/** What a process is stopped with: pm2 (`shutdown_with_message`) and Windows send a message instead of a signal. */
export type StopRequest = NodeJS.Signals | "shutdown message";

/** A listener of a stop signal that is not ours. */
export interface ForeignListener {
  /** `shutdown (server.js:42)`: its name, and where it was registered if that was seen. */
  readonly name: string;
  call(): unknown;
}

export interface HostFacts {
  readonly pid: number;
  /** `v20.19.0`; Bun and Deno name the Node that they are like. */
  readonly node: string;
  readonly runtime: "node" | "bun" | "deno";
  readonly windows: boolean;
  /** Whether standard input is a terminal: a SIGINT is then a person's Ctrl-C. */
  readonly terminal: boolean;
  /** The file that the process runs; empty for a text or standard input. */
  readonly program: string;
  /** Whether this is a worker thread: the main one hears the signals, and passes them on. */
  readonly workerThread: boolean;
  /** The number of the worker thread; 0 in the main one. */
  readonly threadId: number;
  /** Whether this is a worker of `node:cluster`, whose listening sockets are not its own. */
  readonly clusterWorker: boolean;
  /** The systemd unit whose main process this is; asked once, for that costs some milliseconds. */
  systemdUnit(): SystemdUnit | null;
  fileExists(path: string): boolean;
  /** The processes above this one, nearest first, as far as the system shows them. */
  ancestors(): readonly Ancestor[];
  /** As PID 1: the ended processes that nobody reaps, named. */
  zombies(): readonly string[];
  /** Whether the kernel hands what waits for a closed listener to another one of the same port. */
  migratesConnections(): boolean;
}
