/** The events of a run, read as lives: each copy from its start to its exit, each restart from its signal to its replacement. */

import type { EventRecord, RunMs } from "../ledger/records.ts";
import { THRESHOLDS } from "./thresholds.ts";

export interface CopyLife {
  readonly name: string;
  readonly pid: number | null;
  readonly port: number | null;
  readonly startedMs: RunMs;
  readonly readyMs: RunMs | null;
  /** In the router's rotation, as told by the lab. */
  readonly addedMs: RunMs | null;
  readonly removedMs: RunMs | null;
  /** The first stop signal: t0. */
  readonly signalMs: RunMs | null;
  readonly signal: string | null;
  /** The program that got the signal, and the one below it where it had started another: `sh`, `node`. */
  readonly program: string | null;
  readonly below: string | null;
  /** When its readiness first said something else than 200 after the signal, and what: a status, or `ECONNREFUSED`. */
  readonly notReadyMs: RunMs | null;
  readonly notReady: number | string | null;
  /** The same of its liveness, where the lab asked for it. */
  readonly notLiveMs: RunMs | null;
  readonly notLive: number | string | null;
  readonly killedMs: RunMs | null;
  readonly exitMs: RunMs | null;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  /** When the process that got the signal had gone, others of its group were still there. */
  readonly leftBehind: boolean;
}

export interface RestartSpan {
  readonly life: CopyLife & { readonly signalMs: RunMs; readonly signal: string };
  readonly replacement: CopyLife | null;
  /** Bad requests up to here belong to it. */
  readonly endMs: RunMs;
}

export interface Timeline {
  /** In the order of their starts. */
  readonly copies: readonly CopyLife[];
  /** In the order of their signals; only stops while the load ran, not those that end the run. */
  readonly restarts: readonly RestartSpan[];
  readonly reloadsMs: readonly RunMs[];
  readonly loadEndedMs: RunMs | null;
}

type Draft = { -readonly [Key in keyof CopyLife]: CopyLife[Key] };

function born(name: string, startedMs: RunMs): Draft {
  return {
    name,
    pid: null,
    port: null,
    startedMs,
    readyMs: null,
    addedMs: null,
    removedMs: null,
    signalMs: null,
    signal: null,
    program: null,
    below: null,
    notReadyMs: null,
    notReady: null,
    notLiveMs: null,
    notLive: null,
    killedMs: null,
    exitMs: null,
    exitCode: null,
    exitSignal: null,
    leftBehind: false,
  };
}

function numberIn(event: EventRecord, key: string): number | null {
  const value = event.detail[key];
  return typeof value === "number" ? value : null;
}

function textIn(event: EventRecord, key: string): string | null {
  const value = event.detail[key];
  return typeof value === "string" ? value : null;
}

function live(life: Draft, event: EventRecord): void {
  switch (event.event) {
    case "started":
      life.startedMs = event.atMs;
      life.pid = numberIn(event, "pid");
      life.port = numberIn(event, "port") ?? life.port;
      break;
    case "ready":
      life.readyMs ??= event.atMs;
      break;
    case "added":
      life.addedMs ??= event.atMs;
      // Where the router finds it: with a recording shim in front of it another than its own.
      life.port = numberIn(event, "port") ?? life.port;
      break;
    case "removed":
      life.removedMs = event.atMs;
      break;
    case "signal":
      life.signalMs ??= event.atMs;
      life.signal ??= textIn(event, "signal") ?? "signal";
      life.program ??= textIn(event, "program");
      life.below ??= textIn(event, "below");
      break;
    case "not-ready":
      if (life.notReadyMs === null) {
        life.notReadyMs = event.atMs;
        life.notReady = numberIn(event, "seen") ?? textIn(event, "seen");
      }
      break;
    case "not-live":
      if (life.notLiveMs === null) {
        life.notLiveMs = event.atMs;
        life.notLive = numberIn(event, "seen") ?? textIn(event, "seen");
      }
      break;
    case "killed":
      life.killedMs ??= event.atMs;
      break;
    case "exited":
      if (life.exitMs === null) {
        life.exitMs = event.atMs;
        life.exitCode = numberIn(event, "code");
        life.exitSignal = textIn(event, "signal");
        life.leftBehind = event.detail["leftBehind"] === true;
      }
      break;
    case "load-started":
    case "load-ended":
    case "reloaded":
    case "note":
  }
}

/** `A`, `A2` and `A3` are one lane: the same place in the router, one after the other. */
export function laneOf(name: string): string {
  return name.replace(/\d+$/, "") || name;
}

function replacementOf(copies: readonly CopyLife[], life: CopyLife): CopyLife | null {
  const lane = copies.filter((other) => laneOf(other.name) === laneOf(life.name));
  return lane[lane.indexOf(life) + 1] ?? null;
}

function spanOf(copies: readonly CopyLife[], life: RestartSpan["life"]): RestartSpan {
  const replacement = replacementOf(copies, life);
  const last = Math.max(
    life.signalMs,
    life.exitMs ?? Number.POSITIVE_INFINITY,
    life.removedMs ?? life.signalMs,
    replacement?.addedMs ?? life.signalMs,
  );
  return { life, replacement, endMs: last + THRESHOLDS.restartSlackMs };
}

export function readTimeline(events: readonly EventRecord[]): Timeline {
  const inOrder = events.toSorted((a, b) => a.atMs - b.atMs);
  const drafts = new Map<string, Draft>();
  const reloadsMs: RunMs[] = [];
  let loadEndedMs: RunMs | null = null;
  for (const event of inOrder) {
    if (event.copy !== null) {
      const life = drafts.get(event.copy) ?? born(event.copy, event.atMs);
      drafts.set(event.copy, life);
      live(life, event);
    } else if (event.event === "reloaded") {
      reloadsMs.push(event.atMs);
    } else if (event.event === "load-ended") {
      loadEndedMs ??= event.atMs;
    }
  }
  for (const life of drafts.values()) {
    // What its door says when it is dead is no word of its own.
    const goneMs = Math.min(
      life.killedMs ?? Number.POSITIVE_INFINITY,
      life.exitMs ?? Number.POSITIVE_INFINITY,
    );
    if ((life.notReadyMs ?? -Infinity) >= goneMs) {
      life.notReadyMs = null;
      life.notReady = null;
    }
  }
  const copies: readonly CopyLife[] = [...drafts.values()].toSorted((a, b) => a.startedMs - b.startedMs);
  const stopped = copies.filter(
    (life): life is RestartSpan["life"] =>
      life.signalMs !== null && life.signalMs < (loadEndedMs ?? Number.POSITIVE_INFINITY),
  );
  return {
    copies,
    restarts: stopped.toSorted((a, b) => a.signalMs - b.signalMs).map((life) => spanOf(copies, life)),
    reloadsMs,
    loadEndedMs,
  };
}
