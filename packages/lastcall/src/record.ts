/** The record: one JSON line that says what happened from the first stop signal to the exit. docs/record.md has its schema. */

import type { RequestCounts } from "./admission.ts";
import type { Budget } from "./budget.ts";
import type { HostFacts } from "./host.ts";
import type { SignalHeard } from "./signals.ts";
import type { ConnectionCounts, Cut } from "./servers/server.ts";
import type { Stop } from "./stop.ts";
import type { TaskFate, TaskReport } from "./tasks.ts";
import type { HookReport } from "./teardown.ts";

export type Outcome = "drained" | "incomplete" | "failed";

export interface ShutdownRecord {
  readonly schema: "lastcall.record/1";
  readonly pid: number;
  /** The number of the worker thread whose stop it was; absent in the main thread's. */
  readonly thread?: number;
  readonly node: string;
  /** Wall time of the stop's beginning, ISO 8601. */
  readonly at: string;
  /** What began the stop: a signal, `life.shutdown()`, an empty event loop, or the app's own exit. */
  readonly reason: "signal" | "shutdown" | "empty-loop" | "exit";
  /** The text given to `life.shutdown()`, if any. */
  readonly why?: string;
  readonly signal: NodeJS.Signals | null;
  /** The stop signals after the first that counted, and what each did. */
  readonly others: readonly { readonly signal: string; readonly atMs: number; readonly effect: string }[];
  /** Who else listens for the stop signals. */
  readonly foreign: readonly string[];
  readonly leaveOrder: "announce-first" | "listener-first";
  readonly phases: {
    readonly lameDuckMs: number;
    readonly drainingMs: number;
    readonly teardownMs: number;
    readonly totalMs: number;
  };
  readonly budget: Budget;
  readonly requests: RequestCounts;
  /** Connections that spoke something else than HTTP/1.1; absent when there were none. */
  readonly connections?: ConnectionCounts;
  readonly unfinished: readonly {
    readonly route: string;
    readonly ageMs: number;
    readonly cut: "503" | "reset" | "handler" | "exit";
  }[];
  readonly tasks: Readonly<Record<TaskFate, number>>;
  readonly unfinishedTasks: readonly {
    readonly name: string;
    readonly fate: TaskFate;
    readonly ageMs: number;
  }[];
  readonly teardown: readonly HookReport[];
  /** What still held the process open at the end. */
  readonly held: readonly string[];
  readonly errors: readonly string[];
  readonly outcome: Outcome;
  /** `app`: the app called `process.exit` itself; `exitStack` says where. `watchdog`: `blockedIn` says what held it. */
  readonly endedBy: "lastcall" | "app" | "watchdog";
  readonly exitStack?: readonly string[];
  /** What blocked the event loop past the deadline: the innermost functions, or `native`. */
  readonly blockedIn?: string;
  readonly exitCode: number;
  /** How many entries of each list were left out to stay below 4 KiB. Counts are never cut. */
  readonly cut?: Readonly<Record<string, number>>;
}

/** A pipe keeps at least this much from one write, also when the reader is slow. */
export const RECORD_LIMIT_BYTES = 4096;

const LONGEST_TEXT = 160;

/** More entries than this never fit; leaving them out first keeps a thousand cut requests from delaying the exit. */
const LONGEST_LIST = 128;

/** One line of at most 4 KiB. Texts are shortened and lists are cut, the longest first; nothing else is. */
export function formatRecord(record: ShutdownRecord): string {
  const lists = new Map<string, unknown[]>();
  const cut: Record<string, number> = {};
  for (const [name, value] of Object.entries(record)) {
    if (Array.isArray(value)) {
      lists.set(name, value.slice(0, LONGEST_LIST).map(shorten));
      if (value.length > LONGEST_LIST) {
        cut[name] = value.length - LONGEST_LIST;
      }
    }
  }
  for (;;) {
    const line = JSON.stringify({
      ...record,
      // The reason that the app gave may be any text.
      ...(record.why === undefined ? {} : { why: shorten(record.why) }),
      ...Object.fromEntries(lists),
      ...(Object.keys(cut).length === 0 ? {} : { cut }),
    });
    if (Buffer.byteLength(line) < RECORD_LIMIT_BYTES) {
      return line;
    }
    const [name, longest] = [...lists].reduce((a, b) => (size(b[1]) > size(a[1]) ? b : a));
    if (longest.length === 0) {
      return line;
    }
    const keep = Math.floor(longest.length / 2);
    cut[name] = (cut[name] ?? 0) + longest.length - keep;
    lists.set(name, longest.slice(0, keep));
  }
}

function size(list: readonly unknown[]): number {
  return JSON.stringify(list).length;
}

function shorten(value: unknown): unknown {
  if (typeof value === "string") {
    return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value;
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shorten(inner)]));
  }
  return value;
}

/** What a record is made of, gathered by the lifecycle at the end. */
export interface RecordParts {
  readonly stop: Stop;
  /** The instant at which it is made, on the host's clock. */
  readonly now: number;
  readonly facts: Pick<HostFacts, "pid" | "threadId" | "node">;
  readonly others: readonly SignalHeard[];
  readonly budget: Budget;
  readonly requests: RequestCounts;
  readonly connections: ConnectionCounts;
  readonly cuts: readonly {
    readonly route: string;
    readonly startedAt: number;
    readonly how: Cut["how"] | "exit";
  }[];
  readonly tasks: TaskReport;
  readonly teardown: readonly HookReport[];
  readonly held: readonly string[];
  readonly errors: readonly string[];
  readonly forced: boolean;
  readonly failed: boolean;
  readonly exitPolicy: "code" | "signal";
  /** The exit code that the app has set for a natural end. */
  readonly pendingExitCode: number;
  /** The exit code that a stop handler of the app asked for, held in auto mode. */
  readonly askedExitCode?: number | null;
  /** For the watchdog, which would end the process now: the hooks that it would skip. */
  readonly skipped?: readonly string[];
  /** The app's own exit, if it was the app that ended the process. */
  readonly appExit: { readonly code: number; readonly stack: string; readonly early: boolean } | null;
}

export function makeRecord(parts: RecordParts): ShutdownRecord {
  const { stop, now, requests, tasks, teardown, appExit } = parts;
  const startedAt = stop.deadline.startedAt;
  const outcome = outcomeOf(parts);
  const ownCode = exitCodeOf(outcome, parts.exitPolicy, stop.signal);
  const pending = stop.reason === "empty-loop" ? parts.pendingExitCode : 0;
  const asked = outcome === "drained" ? parts.askedExitCode || pending : 0;
  const exitCode = asked || ownCode;
  const sinceOrZero = (from: number | null, to: number): number =>
    from === null ? 0 : Math.round(to - from);
  return {
    schema: "lastcall.record/1",
    pid: parts.facts.pid,
    ...(parts.facts.threadId === 0 ? {} : { thread: parts.facts.threadId }),
    node: parts.facts.node,
    at: stop.at,
    reason: stop.reason,
    ...(stop.why === undefined ? {} : { why: stop.why }),
    signal: stop.signal,
    others: parts.others,
    foreign: stop.foreign,
    leaveOrder: stop.leaveOrder,
    phases: {
      lameDuckMs: Math.round((stop.drainingAt ?? stop.teardownAt ?? now) - startedAt),
      drainingMs: sinceOrZero(stop.drainingAt, stop.teardownAt ?? now),
      teardownMs: sinceOrZero(stop.teardownAt, now),
      totalMs: Math.round(now - startedAt),
    },
    budget: parts.budget,
    requests,
    ...(Object.keys(parts.connections).length === 0 ? {} : { connections: parts.connections }),
    unfinished: parts.cuts.map((cut) => ({
      route: cut.route,
      ageMs: Math.round(now - cut.startedAt),
      cut: cut.how,
    })),
    tasks: tasks.counts,
    unfinishedTasks: tasks.unfinished.map((task) => ({ ...task, ageMs: Math.round(task.ageMs) })),
    teardown: [
      ...teardown,
      ...(parts.skipped ?? []).map((name) => ({ name, outcome: "skipped" as const, ms: 0 })),
    ],
    held: parts.held,
    errors: parts.errors,
    outcome,
    endedBy: parts.skipped !== undefined ? "watchdog" : appExit === null ? "lastcall" : "app",
    ...(appExit === null ? {} : { exitStack: stackLines(appExit.stack) }),
    exitCode: appExit?.code ?? exitCode,
  };
}

function stackLines(stack: string): readonly string[] {
  return stack
    .split("\n")
    .map((line) => line.trim())
    .slice(0, 6);
}

function outcomeOf(parts: RecordParts): Outcome {
  if (parts.failed) {
    return "failed";
  }
  const incomplete =
    parts.skipped !== undefined ||
    parts.forced ||
    parts.requests.unfinished > 0 ||
    (parts.connections.tunnelsCut ?? 0) + (parts.connections.webSocketsCut ?? 0) > 0 ||
    parts.tasks.unfinished.length > 0 ||
    parts.teardown.some((hook) => hook.outcome !== "done") ||
    parts.appExit?.early === true;
  return incomplete ? "incomplete" : "drained";
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

/** Clean and incomplete have different codes; a policy may report a clean stop as the shell would. Never by re-raising. */
export function exitCodeOf(
  outcome: Outcome,
  policy: "code" | "signal",
  signal: NodeJS.Signals | null,
): number {
  switch (outcome) {
    case "drained": {
      const number = signal === null ? undefined : SIGNAL_NUMBERS[signal];
      return policy === "signal" && number !== undefined ? 128 + number : 0;
    }
    case "incomplete":
      return 3;
    case "failed":
      return 1;
  }
}
