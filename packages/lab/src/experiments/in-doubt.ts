/** `in-doubt`: a write that is committed and never acknowledged, and what makes asking again safe. */

import type { RolloutPlan } from "../scenario/plan.ts";
import { planRollout } from "../scenario/planning.ts";
import { inWords, isAnswered, type Fate } from "./answer.ts";
import type { Experiment } from "./experiment.ts";
import { check, judge, type Judgement } from "./judgement.ts";
import type { Row } from "../rollout/row.ts";
import { playRow } from "./rows.ts";

export interface DoubtCase {
  readonly acknowledged: number;
  readonly stored: number | null;
  readonly inDoubt: readonly string[];
  readonly invalid: boolean;
}

export interface InDoubtFacts {
  readonly kill: DoubtCase;
  readonly drain: DoubtCase;
  /** The same order, committed by a service that is killed before it answers, then asked for again at the next one. */
  readonly killed: Fate;
  readonly again: Fate;
}

const ID = "order-42";

function caseOf({ verdict }: Row): DoubtCase {
  const { acknowledged, rows, checked, inDoubt } = verdict.store;
  return { acknowledged, stored: checked ? rows : null, inDoubt, invalid: verdict.outcome === "invalid" };
}

/** Orders alone, each committed first and acknowledged 0.3 s later. */
function plan(scenario: "kill" | "drain"): RolloutPlan {
  const [base] = planRollout({ scenario });
  return {
    ...base!,
    expectation: null,
    routes: { ...base!.routes, get: null, post: "/orders?after=0.3&id={id}" },
  };
}

const counts = ({ acknowledged, stored, inDoubt }: DoubtCase): string =>
  `${acknowledged} acknowledged, ${stored ?? "?"} stored, ${inDoubt.length} in doubt`;

export function judgeInDoubt({ kill, drain, killed, again }: InDoubtFacts): Judgement {
  const valid = (one: DoubtCase, holds: boolean): boolean | null =>
    one.invalid || one.stored === null ? null : holds;
  return judge(
    [
      check(
        "hard kill: orders are stored whose client never hears of it",
        valid(kill, kill.inDoubt.length > 0),
        counts(kill),
      ),
      check(
        "hard kill: the ledger names each of them",
        valid(kill, kill.stored === kill.acknowledged + kill.inDoubt.length),
        kill.inDoubt.slice(0, 4).join(" ") || "none",
      ),
      check(
        "drain: every stored order was acknowledged",
        valid(drain, drain.inDoubt.length === 0 && drain.stored === drain.acknowledged),
        counts(drain),
      ),
      check(
        "a kill between commit and answer: the client hears nothing",
        killed.ending === "cut",
        inWords(killed),
      ),
      check(
        "asked again under the same id, the order is not stored twice",
        isAnswered(again, 409),
        `${inWords(again)} ${again.body}`,
      ),
    ],
    `a kill left ${kill.inDoubt.length} orders stored and unacknowledged, each named in the ledger; the drain left ${drain.inDoubt.length}. A client that asks again under the same id is safe either way.`,
  );
}

export const inDoubtExperiment: Experiment = {
  name: "in-doubt",
  summary: "writes that are committed and never acknowledged, by name",
  question:
    "Each order is committed first and acknowledged 0.3 s later. A rolling restart by hard kill, then one with a drain: which " +
    "orders are in the store without their client knowing? And may such a client ask again?",
  lastsS: 28,
  play: async (stage) => {
    const { tale } = stage;
    tale.part("A rolling restart by SIGKILL, orders only");
    const kill = caseOf(await playRow(stage, plan("kill"), "kill"));
    stage.learnt("kill", kill);
    tale.say(`${counts(kill)}. In doubt: ${kill.inDoubt.join(" ") || "none"}.`);
    tale.part("The same with lastcall and a drain delay of 2.5 s");
    const drain = caseOf(await playRow(stage, plan("drain"), "drain"));
    stage.learnt("drain", drain);
    tale.say(`${counts(drain)}.`);
    tale.part("Asking again");
    const body = JSON.stringify({ id: ID });
    const first = await stage.start({ name: "shop", build: "bare" });
    const asked = first.ask({ method: "POST", path: "/orders?after=0.6", body });
    await stage.sleep(300);
    await stage.until(first.stop("SIGKILL"));
    const killed = await stage.until(asked);
    const second = await stage.start({ name: "shop-2", build: "bare", args: ["--db", first.ordersFile] });
    const again = await stage.until(second.ask({ method: "POST", path: "/orders?after=0", body }));
    tale.say(
      `${ID} was sent and its service killed: ${inWords(killed)}. Sent again to the next one: ${inWords(again)}, ${again.body}.`,
    );
    const facts = { kill, drain, killed, again };
    return { facts, judgement: judgeInDoubt(facts) };
  },
};
