/** Holds one service against the clauses: several hearings at a time, each with copies of its own. */

import { performance } from "node:perf_hooks";
import { CLAUSES } from "../contract/index.ts";
import type { Clause, ClauseId, Judgement, Level } from "../contract/clause.ts";
import type { Subject } from "../contract/subject.ts";
import { LabError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";

export interface Proven {
  readonly clause: Clause;
  readonly judgement: Judgement;
  readonly tookMs: number;
}

export interface Proof {
  readonly subject: Subject;
  /** In the order of the contract. */
  readonly proven: readonly Proven[];
  readonly tookMs: number;
  /** It was seen to run with lastcall, which its description does not say. */
  readonly hasLibraryUnsaid?: boolean;
}

const LEVELS: readonly Level[] = ["core", "protocol", "process", "honest"];

/** The clauses that were asked for, in the order of the contract. Errors: LAB_OPTION. */
export function chooseClauses(only: string | undefined, level: string | undefined): readonly Clause[] {
  const all = Object.values(CLAUSES);
  if (level !== undefined && !LEVELS.includes(level as Level)) {
    throw new LabError("LAB_OPTION", `--level is '${level}'.`, `Levels are ${LEVELS.join(", ")}.`);
  }
  const ids = only?.split(",").map((id) => id.trim().toUpperCase());
  for (const id of ids ?? []) {
    if (CLAUSES[id as ClauseId] === undefined) {
      const known = Object.keys(CLAUSES);
      throw new LabError(
        "LAB_OPTION",
        `--only names ${id}, and the contract has no such clause.`,
        `${didYouMean(id, known)}docs/contract.md lists them: ${known[0]} to ${known.at(-1)}.`,
      );
    }
  }
  return all.filter(
    (clause) =>
      (ids === undefined || ids.includes(clause.id)) && (level === undefined || clause.level === level),
  );
}

export async function prove(
  subject: Subject,
  clauses: readonly Clause[],
  jobs: number,
  interrupted: AbortSignal,
  onJudged: (proven: Proven, done: number) => void,
): Promise<Proof> {
  const startedMs = performance.now();
  const waiting = [...clauses];
  const proven: Proven[] = [];
  const judgeOne = async (): Promise<void> => {
    for (
      let clause = waiting.shift();
      clause !== undefined && !interrupted.aborted;
      clause = waiting.shift()
    ) {
      const beganMs = performance.now();
      // One after the other within a job; the jobs run side by side.
      const judgement = await clause.judge(subject);
      const one = { clause, judgement, tookMs: performance.now() - beganMs };
      proven.push(one);
      onJudged(one, proven.length);
    }
  };
  await Promise.all(Array.from({ length: jobs }, judgeOne));
  const order = clauses.map((clause) => clause.id);
  return {
    subject,
    proven: proven.toSorted((a, b) => order.indexOf(a.clause.id) - order.indexOf(b.clause.id)),
    tookMs: performance.now() - startedMs,
  };
}

export interface Counts {
  readonly kept: number;
  readonly broken: number;
  readonly notJudged: number;
}

export function countJudgements({ proven }: Proof): Counts {
  const count = (kind: Judgement["kind"]): number =>
    proven.filter((one) => one.judgement.kind === kind).length;
  return { kept: count("kept"), broken: count("broken"), notJudged: count("not judged") };
}
