/** What systemd grants, and what it is told, in the order of a life. Pure. */

import { formatDuration } from "../duration.ts";

export const READY: readonly string[] = ["READY=1", "STATUS=serving"];

/** `extendMs`: what was set as the grace period, so that a shorter TimeoutStopSec does not cut the stop. */
export function stopping(deadlineInMs: number, extendMs: number | undefined): readonly string[] {
  return [
    "STOPPING=1",
    `STATUS=draining, at most ${formatDuration(deadlineInMs)}`,
    ...(extendMs === undefined ? [] : [`EXTEND_TIMEOUT_USEC=${Math.ceil(extendMs * 1000)}`]),
  ];
}

export const TEARDOWN: readonly string[] = ["STATUS=closing"];

/** The unit that this process is the main process of. */
export interface SystemdUnit {
  /** `app.service`. */
  readonly name: string;
  /** Its TimeoutStopSec as systemd prints it; null when systemd could not be asked. */
  readonly timeoutStop: string | null;
}

/** The unit in the lines of `/proc/self/cgroup`, and whether it is a user's; null for a process outside of any service. */
export function unitOf(cgroups: string): { readonly name: string; readonly isUsers: boolean } | null {
  // Under cgroup v1 systemd's own hierarchy, under v2 the only one.
  const line = /^(?:0:|\d+:name=systemd):(.*)$/gm;
  for (const [, path = ""] of cgroups.matchAll(line)) {
    const name = path.split("/").findLast((part) => part.endsWith(".service"));
    if (name !== undefined) {
      return { name, isUsers: path.includes("/user@") };
    }
  }
  return null;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  month: 2_629_800_000,
  y: 31_557_600_000,
};

/** A time span as systemd prints it, `1min 30s`, in milliseconds; `infinity` is Infinity; null for anything else. */
export function readTimeSpan(text: string): number | null {
  if (text === "infinity") {
    return Number.POSITIVE_INFINITY;
  }
  let sum = 0;
  for (const part of text.split(" ")) {
    const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)([a-z]+)$/.exec(part) ?? [];
    const each = UNIT_MS[unit];
    if (amount === undefined || each === undefined) {
      return null;
    }
    sum += Number(amount) * each;
  }
  return sum;
}
