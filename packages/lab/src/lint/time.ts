/** Durations as each platform writes them. Every parser returns milliseconds, Infinity, or undefined for "not a duration". */

import type { Place } from "./source.ts";
import { where } from "./source.ts";

/** Where a number comes from. */
export type Origin =
  | { readonly kind: "file"; readonly at: Place }
  | { readonly kind: "default"; readonly of: string }
  | { readonly kind: "flag"; readonly name: string };

export interface Time {
  readonly ms: number;
  readonly origin: Origin;
}

export function originText(origin: Origin): string {
  switch (origin.kind) {
    case "file":
      return where(origin.at);
    case "default":
      return `default of ${origin.of}`;
    case "flag":
      return origin.name;
  }
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  msec: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
  weeks: 604_800_000,
};

/** A run of number-unit pairs; a bare number takes `bareMs` each (undefined: refused). */
function pairs(text: string, units: readonly string[], bareMs: number | undefined): number | undefined {
  let rest = text.trim();
  if (rest === "") {
    return undefined;
  }
  let total = 0;
  while (rest !== "") {
    const match = /^(\d+(?:\.\d+)?)\s*([a-zµ]*)\s*/i.exec(rest);
    if (match === null) {
      return undefined;
    }
    const unit = match[2] ?? "";
    const each = unit === "" ? bareMs : units.includes(unit) ? UNITS[unit] : undefined;
    if (each === undefined) {
      return undefined;
    }
    total += Number(match[1]) * each;
    rest = rest.slice(match[0].length);
  }
  return total;
}

const GO: readonly string[] = ["ns", "us", "µs", "ms", "s", "m", "h"];

/** Go's grammar, used by Compose, Istio and the command line: units are needed, except for zero. */
export function goDuration(text: string): number | undefined {
  return text.trim() === "0" ? 0 : pairs(text, GO, undefined);
}

/** systemd.time(7): a bare number is seconds; `infinity` is allowed. */
export function systemdDuration(text: string): number | undefined {
  return text.trim() === "infinity" ? Number.POSITIVE_INFINITY : pairs(text, Object.keys(UNITS), 1000);
}

/** nginx: `ms s m h d w`; a bare number is seconds. */
export function nginxDuration(text: string): number | undefined {
  return pairs(text, ["ms", "s", "m", "h", "d", "w"], 1000);
}

/** HAProxy: `us ms s m h d`; a bare number is milliseconds. */
export function haproxyDuration(text: string): number | undefined {
  return pairs(text, ["us", "ms", "s", "m", "h", "d"], 1);
}

/** Shell `sleep`: `s m h d`; a bare number is seconds. */
export function sleepDuration(text: string): number | undefined {
  return text === "infinity" ? Number.POSITIVE_INFINITY : pairs(text, ["s", "m", "h", "d"], 1000);
}

/** Seconds as people write them: `5 s`, `1.5 s`, `no limit`. */
export function seconds(ms: number): string {
  if (!Number.isFinite(ms)) {
    return "no limit";
  }
  return `${Number((ms / 1000).toFixed(3))} s`;
}
