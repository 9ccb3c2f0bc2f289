/**
 * The live picture of a run: a lane for each place in the router, failures, latency and counters, in columns of time. It is
 * fed record by record, so feeding is a few additions; lines are made only when they are drawn.
 */

import type { EventRecord, LedgerRecord, RequestRecord } from "../ledger/records.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import { laneOf } from "../verdict/timeline.ts";
import { duration, grouped } from "./numbers.ts";
import { lineOf } from "./progress-words.ts";
import type { Style } from "./style.ts";

export interface Screen {
  see(record: LedgerRecord): void;
  /** As wide as `columns` at most. `elapsedMs`: since the start, by the clock of whoever draws. */
  lines(columns: number, elapsedMs: number): readonly string[];
}

/** Slices of time that are kept; when they are full each two become one, so the last screen shows the whole run. */
const SLICES = 480;
const FIRST_SLICE_MS = 50;

/**
 * By rank: where several phases fall into one column, the one that says most is shown. Nothing known, serving, starting, lame
 * duck, draining, down.
 */
const SIGNS = [" ", "█", "▁", "▓", "▒", "·"];
const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const BUCKETS_A_DECADE = 12;

interface Slice {
  failed: number;
  slowestMs: number;
}

interface Lane {
  readonly name: string;
  phases: number[];
  /** What the place is in now, and from when a drain delay is over. */
  now: number;
  gateMs: number;
}

/** As many of its parts, which three blanks separate, as fit. */
function fitting(text: string, width: number): string {
  let line = "";
  for (const part of text.split("   ")) {
    const longer = line === "" ? part : `${line}   ${part}`;
    if (longer.length > width) {
      break;
    }
    line = longer;
  }
  return line === "" ? text.slice(0, Math.max(0, width)) : line;
}

function bucketOf(ms: number): number {
  return Math.max(0, Math.min(95, Math.round((Math.log10(Math.max(ms, 0.1)) + 1) * BUCKETS_A_DECADE)));
}

export function createScreen(
  plan: Pick<
    RolloutPlan,
    "scenario" | "title" | "copies" | "repeat" | "ratePerSecond" | "drainDelayMs" | "signal"
  >,
  style: Style,
): Screen {
  const lanes: Lane[] = [];
  let slices: Slice[] = [];
  let sliceMs = FIRST_SLICE_MS;
  let [fromMs, nowMs] = [0, 0];
  let [finished, failed, restarts] = [0, 0, 0];
  let last = "copies start";
  const buckets = new Uint32Array(96);

  /** The slice of a time, with everything up to it filled in. */
  function at(ms: number): number {
    const index = Math.max(0, Math.floor((ms - fromMs) / sliceMs));
    if (index >= SLICES) {
      halve();
      return at(ms);
    }
    while (slices.length <= index) {
      slices.push({ failed: 0, slowestMs: 0 });
    }
    for (const lane of lanes) {
      while (lane.phases.length <= index) {
        const sliceAt = fromMs + lane.phases.length * sliceMs;
        if (lane.now === 3 && sliceAt >= lane.gateMs) {
          lane.now = 4;
        }
        lane.phases.push(lane.now);
      }
    }
    return index;
  }

  function halve(): void {
    sliceMs *= 2;
    const pairs = <T>(list: readonly T[], join: (a: T, b: T) => T): T[] =>
      Array.from({ length: Math.ceil(list.length / 2) }, (_, n) => {
        const one = list[2 * n] as T;
        return 2 * n + 1 < list.length ? join(one, list[2 * n + 1] as T) : one;
      });
    slices = pairs(slices, (a, b) => ({
      failed: a.failed + b.failed,
      slowestMs: Math.max(a.slowestMs, b.slowestMs),
    }));
    for (const lane of lanes) {
      lane.phases = pairs(lane.phases, Math.max);
    }
  }

  function phase(event: EventRecord): void {
    const name = laneOf(event.copy ?? "");
    let lane = lanes.find((one) => one.name === name);
    if (lane === undefined) {
      lane = { name, phases: [], now: 0, gateMs: 0 };
      lanes.push(lane);
    }
    const next = {
      started: 2,
      ready: 1,
      added: 1,
      signal: plan.signal === "SIGKILL" ? 4 : 3,
      exited: 5,
    }[event.event as string];
    if (next === undefined) {
      return;
    }
    const index = at(event.atMs);
    if (event.event === "signal") {
      lane.gateMs = event.atMs + (plan.drainDelayMs ?? 0);
    }
    lane.now = next === 3 && lane.gateMs <= event.atMs ? 4 : next;
    lane.phases[index] = Math.max(lane.phases[index] ?? 0, lane.now);
  }

  function request(record: RequestRecord): void {
    finished += 1;
    const slice = slices[at(record.endedMs)];
    const latencyMs = record.endedMs - record.intendedMs;
    const bucket = bucketOf(latencyMs);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    if (slice !== undefined) {
      slice.slowestMs = Math.max(slice.slowestMs, latencyMs);
      if (record.fate === "failed" || (record.status ?? 0) >= 400) {
        failed += 1;
        slice.failed += 1;
      }
    }
  }

  function quantile(share: number): string {
    let left = finished * share;
    for (const [bucket, count] of buckets.entries()) {
      left -= count;
      if (left <= 0 && finished > 0) {
        return duration(10 ** (bucket / BUCKETS_A_DECADE - 1));
      }
    }
    return "-";
  }

  function lines(columns: number, elapsedMs: number): readonly string[] {
    const label = Math.min(11, Math.max(9, ...lanes.map(({ name }) => name.length + 1)));
    const width = Math.max(8, Math.min(columns - 1, 100) - label - 2);
    at(nowMs);
    const used = Math.max(1, slices.length);
    const group = Math.max(1, Math.ceil(used / width));
    const cells = Math.ceil(used / group);
    const row = (name: string, cell: (from: number, to: number) => string): string =>
      `  ${style.dim(name.slice(0, label - 1).padEnd(label))}${Array.from({ length: cells }, (_, n) => cell(n * group, Math.min(used, (n + 1) * group))).join("")}`;
    const paint = ["", "green", "dim", "yellow", "bold", "dim"] as const;
    const laneLines = lanes.map((lane) =>
      row(lane.name, (from, to) => {
        const rank = Math.max(0, ...lane.phases.slice(from, to));
        const sign = SIGNS[rank] ?? " ";
        const colour = paint[rank];
        return colour === undefined || colour === "" ? sign : style[colour](sign);
      }),
    );
    const slowest = slices.map((slice) => slice.slowestMs).filter((ms) => ms > 0);
    const most = Math.max(0, ...slowest);
    // From the quietest slice up, a decade at least: a flat run is a flat line.
    const least = Math.max(0.1, Math.min(most, ...slowest));
    const decades = Math.max(1, Math.log10(most / least));
    const latency = row("latency", (from, to) => {
      const here = Math.max(0, ...slices.slice(from, to).map((slice) => slice.slowestMs));
      const step = Math.floor((Math.log10(here / least) / decades) * 8);
      return here === 0 ? " " : (BARS[Math.max(0, Math.min(7, step))] ?? " ");
    });
    const failures = row("failed", (from, to) =>
      slices.slice(from, to).some((slice) => slice.failed > 0) ? style.red("✗") : style.dim("·"),
    );
    const clock = `${(elapsedMs / 1000).toFixed(1)} s`;
    const room = Math.min(columns - 1, label + 2 + width);
    const title = `${plan.scenario}  ${plan.title}`.slice(0, Math.max(0, room - clock.length - 2));
    const counters = [
      `${grouped(finished)} requests`,
      failed === 0 ? style.green("0 failed") : style.red(`${grouped(failed)} failed`),
      `median ${quantile(0.5)}`,
      `p99 ${quantile(0.99)}`,
      `slowest ${most === 0 ? "-" : duration(most)}`,
    ];
    const bare = [`${grouped(finished)} requests`, `${grouped(failed)} failed`, "", "", ""];
    const counterLines: string[] = [];
    let [line, length] = ["", 0];
    counters.forEach((text, index) => {
      const size = (bare[index] === "" ? text : (bare[index] ?? "")).length;
      if (length > 0 && length + 3 + size > room - 2) {
        counterLines.push(line);
        [line, length] = ["", 0];
      }
      line += `${length > 0 ? "   " : "  "}${text}`;
      length += (length > 0 ? 3 : 0) + size;
    });
    counterLines.push(line);
    const state = `restart ${restarts} of ${plan.copies * plan.repeat}   ${last}`;
    return [
      `${style.bold(title.padEnd(room - clock.length))}${style.dim(clock)}`,
      ...laneLines,
      failures,
      latency,
      ...counterLines,
      `  ${fitting(state, room - 2)}`,
      `  ${style.dim(fitting("█ serving   ▓ lame duck   ▒ draining   · down   ▁ starting", room - 2))}`,
    ];
  }

  return {
    see: (record) => {
      if (record.kind === "request") {
        nowMs = Math.max(nowMs, record.endedMs);
        request(record);
      } else if (record.kind === "event") {
        nowMs = Math.max(nowMs, record.atMs);
        if (record.event === "load-started") {
          // Time begins here; what came before is one column.
          fromMs = record.atMs;
          slices = [];
          for (const lane of lanes) {
            lane.phases = [];
          }
        }
        restarts += record.event === "signal" && restarts < plan.copies * plan.repeat ? 1 : 0;
        last = lineOf(record) ?? last;
        if (record.copy !== null) {
          phase(record);
        }
      }
    },
    lines,
  };
}
