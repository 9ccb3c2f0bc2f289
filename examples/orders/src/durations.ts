/** Durations as a person writes them on the command line: `5s`, `250ms`, `1.5s`, `1m`. */

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** The milliseconds meant by `text`, or null where it is no duration. A number without a unit is refused, except 0. */
export function parseDuration(text: string): number | null {
  if (text === "0") return 0;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text);
  const unit = UNIT_MS[match?.[2] ?? ""];
  return match === null || unit === undefined ? null : Math.round(Number(match[1]) * unit);
}
