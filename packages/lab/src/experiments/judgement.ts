/** What a run must show, check by check, and the one line that its checks come to. Pure. */

/** One thing that the run must show. */
export interface Check {
  readonly claim: string;
  /** What was measured, in words. */
  readonly seen: string;
  /** Null: this run cannot tell. */
  readonly holds: boolean | null;
}

export interface Judgement {
  /** True when every check holds, false when one does not, null when none fails and one cannot be told. */
  readonly shows: boolean | null;
  /** The last line of the transcript. */
  readonly line: string;
  readonly checks: readonly Check[];
}

export function judge(checks: readonly Check[], lesson: string): Judgement {
  const failed = checks.filter(({ holds }) => holds === false);
  const unknown = checks.filter(({ holds }) => holds === null);
  const [first] = failed.length > 0 ? failed : unknown;
  if (first === undefined) {
    return { shows: true, line: `Shown: ${lesson}`, checks };
  }
  const more = (failed.length > 0 ? failed : unknown).length - 1;
  const rest = more === 0 ? "" : ` (and ${more} more)`;
  return failed.length > 0
    ? { shows: false, line: `Not shown: ${first.claim}; seen: ${first.seen}${rest}.`, checks }
    : { shows: null, line: `Could not judge: ${first.claim}; ${first.seen}${rest}.`, checks };
}

export function check(claim: string, holds: boolean | null, seen: string): Check {
  return { claim, holds, seen };
}

/** Above it the lab's own timers came so late that a time which does not fit says nothing about the service. */
const LATE_LIMIT_MS = 200;

/**
 * A time in milliseconds that must lie between two others. Outside of them it counts against the experiment only where the
 * machine had time to measure it: `lateMs` is the lab's own longest delay.
 */
export function timed(claim: string, ms: number | null, fromMs: number, toMs: number, lateMs: number): Check {
  if (ms === null) {
    return check(claim, false, "it never came");
  }
  const holds = ms >= fromMs && ms <= toMs;
  return holds || lateMs <= LATE_LIMIT_MS
    ? check(claim, holds, seconds(ms))
    : check(claim, null, `${seconds(ms)}, on a machine that was ${seconds(lateMs)} late itself`);
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
