/** Durations as people write them (`2.5s`, `300ms`, `1m`), parsed once at the edge and printed back. */

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds, or null when the text is no duration. A bare number is refused, but for 0: `5` says no unit. */
export function parseDuration(text: string): number | null {
  if (/^0(?:\.0+)?$/.test(text)) {
    return 0;
  }
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  const unit = match?.[2] === undefined ? undefined : UNIT_MS[match[2]];
  return match?.[1] === undefined || unit === undefined ? null : Math.round(Number(match[1]) * unit);
}

/** The shortest exact form: `0`, `300ms`, `2.5s`, `90s`, `2m`. */
export function formatDuration(ms: number): string {
  if (ms === 0) {
    return "0";
  }
  if (ms < 1000 || ms % 10 !== 0) {
    return `${ms}ms`;
  }
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`;
}
