/** Lives as lanes: for each place in the router the copies that held it, one after the other, in the phases that they went through. */

import type { RunMs } from "../ledger/records.ts";
import { COLUMN } from "../verdict/request-table.ts";
import type { Judged } from "../verdict/judge.ts";
import { laneOf, type CopyLife } from "../verdict/timeline.ts";

/** In the order in which a copy goes through them; `down` is the time without one. */
export type Phase = "starting" | "serving" | "lame-duck" | "draining" | "teardown" | "down";

export interface Band {
  readonly phase: Phase;
  readonly copy: string | null;
  readonly fromMs: RunMs;
  readonly toMs: RunMs;
}

export interface Moment {
  readonly atMs: RunMs;
  readonly kind: "signal" | "kill" | "not-ready" | "exit";
  readonly text: string;
}

export interface Listing {
  readonly copy: string;
  readonly fromMs: RunMs;
  /** Infinity: to the end. */
  readonly toMs: RunMs;
}

export interface Lane {
  readonly name: string;
  readonly bands: readonly Band[];
  readonly moments: readonly Moment[];
  /** When the router sent to it, as the lab told it. */
  readonly listed: readonly Listing[];
}

/** For each copy the end of the last request that it can have worked on; -1 where there is none. */
function lastEnds({ timeline, requests, copyOf }: Judged): Float64Array {
  const last = new Float64Array(timeline.copies.length).fill(-1);
  for (let row = 0; row < requests.length; row += 1) {
    const copy = copyOf(row);
    const ended = requests.value(row, COLUMN.endedMs);
    if (copy >= 0 && ended > (last[copy] ?? 0) && ended <= (timeline.copies[copy]?.exitMs ?? Infinity)) {
      last[copy] = ended;
    }
  }
  return last;
}

/**
 * The delay is what the lab told the copy, and draining ends with its last request: the lab sees a copy from outside. A
 * copy that was killed has no such phases.
 */
export function bandsOf(life: CopyLife, drainDelayMs: number, lastEndMs: number): readonly Band[] {
  const { name, startedMs, signalMs, killedMs, exitMs } = life;
  const readyMs = life.readyMs ?? life.addedMs ?? startedMs;
  const end = exitMs ?? Infinity;
  const cut = Math.min(end, signalMs ?? Infinity);
  const bands: Band[] = [];
  const add = (phase: Phase, fromMs: number, toMs: number): void => {
    if (toMs > fromMs) {
      bands.push({ phase, copy: name, fromMs, toMs });
    }
  };
  add("starting", startedMs, Math.min(readyMs, cut));
  add("serving", readyMs, cut);
  if (signalMs !== null && life.signal !== "SIGKILL") {
    const gate = Math.min(end, signalMs + drainDelayMs);
    const stuck = killedMs !== null;
    const drained = stuck ? end : Math.min(end, Math.max(gate, lastEndMs));
    add("lame-duck", signalMs, gate);
    add("draining", gate, drained);
    add("teardown", drained, end);
  }
  return bands;
}

function momentsOf(life: CopyLife, notReadyMs: number | null): readonly Moment[] {
  const moments: Moment[] = [];
  const { name, signalMs, killedMs, exitMs } = life;
  if (signalMs !== null) {
    const kind = life.signal === "SIGKILL" ? "kill" : "signal";
    moments.push({ atMs: signalMs, kind, text: `${life.signal ?? "signal"} to ${name}` });
  }
  if (notReadyMs !== null) {
    moments.push({ atMs: notReadyMs, kind: "not-ready", text: `${name} says not ready` });
  }
  if (killedMs !== null) {
    moments.push({ atMs: killedMs, kind: "kill", text: `SIGKILL to ${name}: it had not stopped` });
  }
  if (exitMs !== null) {
    const how = life.exitSignal ?? (life.exitCode === null ? "gone" : `code ${life.exitCode}`);
    moments.push({ atMs: exitMs, kind: "exit", text: `${name} has exited (${how})` });
  }
  return moments;
}

/** The times between one copy's exit and the next one's start. */
function gaps(bands: readonly Band[]): readonly Band[] {
  const found: Band[] = [];
  let end: number | null = null;
  for (const band of bands) {
    if (end !== null && band.fromMs > end) {
      found.push({ phase: "down", copy: null, fromMs: end, toMs: band.fromMs });
    }
    end = Math.max(end ?? 0, band.toMs);
  }
  if (end !== null && Number.isFinite(end)) {
    found.push({ phase: "down", copy: null, fromMs: end, toMs: Infinity });
  }
  return found;
}

/** The names of the places, in the order of their first copies. */
export function placesOf(copies: readonly CopyLife[]): readonly string[] {
  return [...new Set(copies.map(({ name }) => laneOf(name)))];
}

/** Where the next copy starts before the one it replaces has gone, each needs a lane of its own. */
export function apart(lives: readonly CopyLife[]): readonly (readonly CopyLife[])[] {
  const rows: CopyLife[][] = [];
  for (const life of lives) {
    const free = rows.find((row) => (row.at(-1)?.exitMs ?? Infinity) <= life.startedMs);
    if (free === undefined) {
      rows.push([life]);
    } else {
      free.push(life);
    }
  }
  return rows;
}

export function lanesOf(judged: Judged): readonly Lane[] {
  const { timeline, verdict } = judged;
  const last = lastEnds(judged);
  const told = verdict.run.parameters["drainDelayMs"];
  const drainDelayMs = typeof told === "number" ? told : 0;
  const notReady = new Map<string | null, number>();
  for (const { event, copy, atMs } of verdict.timeline) {
    if (event === "not-ready" && !notReady.has(copy)) {
      notReady.set(copy, atMs);
    }
  }
  const laneFor = (name: string, lives: readonly CopyLife[]): Lane => {
    const bands = lives.flatMap((life) =>
      bandsOf(life, drainDelayMs, last[timeline.copies.indexOf(life)] ?? -1),
    );
    return {
      name,
      bands: [...bands, ...gaps(bands)],
      moments: lives.flatMap((life) => momentsOf(life, notReady.get(life.name) ?? null)),
      listed: lives.flatMap(({ name: copy, addedMs, removedMs }) =>
        addedMs === null ? [] : [{ copy, fromMs: addedMs, toMs: removedMs ?? Infinity }],
      ),
    };
  };
  return placesOf(timeline.copies).flatMap((name) =>
    apart(timeline.copies.filter((copy) => laneOf(copy.name) === name)).map((lives, row) =>
      laneFor(row === 0 ? name : `${name} (${row + 1})`, lives),
    ),
  );
}
