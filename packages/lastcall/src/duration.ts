/** Durations: milliseconds inside, `5s` at the edge. */

import { LastcallError } from "./errors.ts";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Reads `250ms`, `5s`, `1.5s`, `2m` or `0`. A bare number is refused: nobody could tell its unit. */
export function parseDuration(text: string, name: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim());
  const unit = match?.[2];
  const amount = Number(match?.[1]);
  if (match === null || (unit === undefined && amount !== 0)) {
    throw new LastcallError("LASTCALL_ENVIRONMENT", `${name}=${text} is no duration.`);
  }
  return Math.round(amount * (UNIT_MS[unit ?? "ms"] ?? 1));
}

/** Writes milliseconds as a person would: `250 ms`, `7.5 s`, `30 s`. */
export function formatDuration(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) {
    return "no limit";
  }
  return Math.abs(ms) < 1000 ? `${Math.round(ms)} ms` : `${Number((ms / 1000).toFixed(2))} s`;
}
