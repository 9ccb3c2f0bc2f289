/** Whether a built-in row shows what it must: a pure function of its counts. */

import type { Expectation } from "./scenarios.ts";

export interface RowCounts {
  readonly getFailed: number;
  readonly postFailed: number;
  readonly slow: number;
  /** POSTs answered with a 2xx, and rows that the service stored (null: nobody could tell). */
  readonly acknowledged: number;
  readonly rows: number | null;
  /** Rows whose client never heard of them: a kill between the commit and the answer. */
  readonly inDoubt: number;
  /** Failures which were refused connections to a copy, and all the others. */
  readonly refused: number;
  readonly notRefused: number;
}

/** What makes the size of the gap. */
export interface GapFacts {
  readonly ratePerSecond: number;
  readonly propagationMs: number;
  readonly repeat: number;
}

/** Requests that arrive for a copy that is gone and still listed, over all restarts. */
export function gapOf(facts: GapFacts): number {
  return (facts.ratePerSecond * facts.propagationMs * facts.repeat) / 1000;
}

/** Null when the row shows what it must, else what is wrong, one phrase. */
export function missed(expectation: Expectation, counts: RowCounts, facts: GapFacts): string | null {
  const failed = counts.getFailed + counts.postFailed;
  const gap = gapOf(facts);
  // Only a kill may come between a commit and its answer.
  const killed = expectation.kind === "only-posts" || expectation.kind === "both-fail";
  const told = counts.acknowledged + (killed ? counts.inDoubt : 0);
  if (counts.rows !== null && counts.rows !== told) {
    return `${counts.acknowledged} acknowledged, ${counts.rows} rows stored`;
  }
  switch (expectation.kind) {
    case "only-posts":
      if (counts.getFailed > 0) {
        return `${counts.getFailed} GETs failed in spite of the retries`;
      }
      return counts.postFailed < expectation.minPosts
        ? "no POST failed: the kill met no POST in flight"
        : null;
    case "both-fail": {
      const floor = Math.max(1, Math.round(expectation.minShareEach * gap));
      return counts.getFailed < floor || counts.postFailed < floor
        ? `fewer than ${floor} of each failed: ${counts.getFailed} GETs, ${counts.postFailed} POSTs`
        : null;
    }
    case "at-most":
      return failed > expectation.failed * facts.repeat
        ? `${failed} failed, ${expectation.failed * facts.repeat} at most`
        : null;
    case "refused-gap": {
      const floor = Math.floor(expectation.minShare * gap);
      const ceiling = Math.ceil(expectation.maxShare * gap);
      if (failed < floor || failed > ceiling) {
        return `${failed} failed, ${floor} to ${ceiling} expected`;
      }
      return counts.notRefused > 0 ? `${counts.notRefused} failures were not refused connections` : null;
    }
    case "between": {
      const ceiling = Math.ceil(expectation.maxShare * gap);
      return failed === 0 || failed > ceiling ? `${failed} failed, 1 to ${ceiling} expected` : null;
    }
    case "none":
      break;
  }
  if (failed > 0) {
    return `${failed} failed`;
  }
  return counts.slow > 0 ? `${counts.slow} slow` : null;
}
