/** `rollout`: a rolling restart behind a router, in the six classic ways. */

import { renderHead, renderTable } from "../render/rollout.ts";
import { PLAIN } from "../render/style.ts";
import type { Row } from "../rollout/row.ts";
import { planRollout } from "../scenario/planning.ts";
import type { Experiment } from "./experiment.ts";
import { check, judge, type Judgement } from "./judgement.ts";
import { playRow } from "./rows.ts";

export interface RolloutFacts {
  readonly rows: readonly {
    readonly scenario: string;
    readonly mustShow: string;
    /** Null: the run is invalid. */
    readonly shown: boolean | null;
    readonly why: string | null;
    readonly sent: number;
    readonly getFailed: number;
    readonly postFailed: number;
    readonly slow: number;
    readonly acknowledged: number;
    readonly stored: number | null;
  }[];
}

export function factsOf(rows: readonly Row[]): RolloutFacts {
  return {
    rows: rows.map(({ plan, verdict, counts, shown, why }) => ({
      scenario: plan.scenario,
      mustShow: plan.mustShow,
      shown: verdict.outcome === "invalid" ? null : shown,
      why,
      sent: verdict.requests.sent,
      getFailed: counts.getFailed,
      postFailed: counts.postFailed,
      slow: counts.slow,
      acknowledged: counts.acknowledged,
      stored: counts.rows,
    })),
  };
}

export function judgeRollout({ rows }: RolloutFacts): Judgement {
  const failed = (name: string): string => {
    const row = rows.find(({ scenario }) => scenario === name);
    return row === undefined ? "?" : `${row.getFailed + row.postFailed} of ${row.sent}`;
  };
  return judge(
    rows.map((row) =>
      check(
        `${row.scenario}: ${row.mustShow}`,
        row.shown,
        row.why ??
          `${row.getFailed} GET and ${row.postFailed} POST failed, ${row.slow} slow, ${row.acknowledged} acknowledged, ${row.stored ?? "?"} stored`,
      ),
    ),
    `the usual stop loses ${failed("stop")} requests behind a router that lags by 1 s; a drain delay longer than the lag loses ${failed("drain")}.`,
  );
}

export const rolloutExperiment: Experiment = {
  name: "rollout",
  summary: "a rolling restart behind a router, in six ways (lastcall rollout has the flags)",
  question:
    "Two copies behind a router, 20 requests a second. Each copy is restarted in turn; the router learns of it 1 s late. Hard " +
    "kill or stop signal, with retries or without, with a drain delay that is too short and with one that is not.",
  lastsS: 75,
  play: async (stage) => {
    const rows: Row[] = [];
    for (const plan of planRollout({ all: true })) {
      const row = await playRow(stage, plan, plan.scenario);
      rows.push(row);
      stage.tale.say(`${plan.scenario}: ${row.verdict.headline}`);
      stage.learnt(plan.scenario, factsOf([row]).rows[0]);
    }
    stage.tale.block(`${renderHead(rows)}\n\n${renderTable(rows, PLAIN)}`);
    const facts = factsOf(rows);
    return { facts, judgement: judgeRollout(facts) };
  },
};
