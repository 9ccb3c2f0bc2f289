/** Everything that a report shows of one run, computed once: the verdict and what its pictures are made of. */

import type { RouterLogRecord } from "../ledger/records.ts";
import type { Judged } from "../verdict/judge.ts";
import { laneOf, type Timeline } from "../verdict/timeline.ts";
import type { BadRequest, Verdict } from "../verdict/verdict.ts";
import { columnsOf, type Columns } from "./columns.ts";
import { lanesOf, placesOf, type Lane } from "./lanes.ts";
import { sharesOf, type Shares } from "./share.ts";
import { windowOf, type Window } from "./window.ts";

export interface RunReport {
  readonly verdict: Verdict;
  /** Why this is not the whole run, one sentence each; empty when it is. */
  readonly warnings: readonly string[];
  readonly window: Window;
  readonly timeline: Timeline;
  readonly lanes: readonly Lane[];
  readonly columns: Columns;
  readonly shares: Shares;
  readonly log: readonly RouterLogRecord[];
  readonly bad: readonly BadRequest[];
}

export function reportOf(judged: Judged, warnings: readonly string[]): RunReport {
  const { timeline, verdict, log, bad } = judged;
  const window = windowOf(judged);
  const places = placesOf(timeline.copies);
  const columns = columnsOf(
    judged,
    window,
    timeline.copies.map(({ name }) => places.indexOf(laneOf(name))),
  );
  return {
    verdict,
    warnings,
    window,
    timeline,
    lanes: lanesOf(judged),
    columns,
    shares: sharesOf(columns, window, places),
    log,
    bad: [...bad.values()],
  };
}
