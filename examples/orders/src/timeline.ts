/**
 * One timeline out of the access log and the events file, in seconds since the signal.
 * `node timeline.js EVENTS ACCESSLOG` prints it.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Moment {
  /** Since the first "signal" event; where there is none, since the first line of all. Negative before it. */
  readonly seconds: number;
  readonly source: "event" | "access";
  readonly text: string;
}

/** Lines that cannot be read (a torn last one) are left out; at the same millisecond the order of the files is kept. */
export function mergeTimeline(events: string, accessLog: string): readonly Moment[] {
  const moments = [...eventsIn(events), ...accessIn(accessLog)];
  const signal = moments.find(({ source, text }) => source === "event" && /^signal\b/.test(text));
  const first = moments.reduce((least, { wallMs }) => Math.min(least, wallMs), Infinity);
  const zero = signal?.wallMs ?? first;
  return moments
    .toSorted((a, b) => a.wallMs - b.wallMs)
    .map(({ wallMs, source, text }) => ({ seconds: (wallMs - zero) / 1000, source, text }));
}

interface Dated {
  readonly wallMs: number;
  readonly source: Moment["source"];
  readonly text: string;
}

function eventsIn(ndjson: string): readonly Dated[] {
  return ndjson.split("\n").flatMap((line) => {
    try {
      const { wallMs, event, pid: _pid, ...detail } = JSON.parse(line) as Readonly<Record<string, unknown>>;
      if (typeof wallMs !== "number" || typeof event !== "string") return [];
      const more = Object.entries(detail).map(([name, value]) => ` ${name}=${shown(value)}`);
      return [{ wallMs, source: "event" as const, text: event + more.join("") }];
    } catch {
      return [];
    }
  });
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function accessIn(log: string): readonly Dated[] {
  return log.split("\n").flatMap((line) => {
    const [, at = "", text = ""] = /^(\S+) ((?:START|FINISH|CUT) .+)$/.exec(line) ?? [];
    const wallMs = Date.parse(at);
    return Number.isNaN(wallMs) ? [] : [{ wallMs, source: "access" as const, text }];
  });
}

export function formatTimeline(moments: readonly Moment[]): string {
  return moments
    .map(({ seconds, source, text }) => `${seconds.toFixed(3).padStart(9)} s  ${source.padEnd(6)}  ${text}\n`)
    .join("");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [eventsFile, accessLogFile] = process.argv.slice(2);
  if (eventsFile === undefined || accessLogFile === undefined) {
    console.error("timeline: say two files: node timeline.js EVENTS ACCESSLOG");
    process.exitCode = 2;
  } else {
    const [events, accessLog] = [eventsFile, accessLogFile].map((file) => readFileSync(file, "utf8"));
    process.stdout.write(formatTimeline(mergeTimeline(events ?? "", accessLog ?? "")));
  }
}
