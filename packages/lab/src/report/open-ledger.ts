/** From a path to a judged run: a ledger or the folder that holds it. What is cut off is judged as far as it goes, and said. */

import { statSync } from "node:fs";
import path from "node:path";
import { LabError } from "../errors.ts";
import { readLedger } from "../ledger/reader.ts";
import { LEDGER_FILE } from "../ledger/writer.ts";
import { createJudge, type Judged } from "../verdict/judge.ts";

export interface OpenedLedger {
  readonly file: string;
  readonly judged: Judged;
  readonly warnings: readonly string[];
}

/** Throws `LAB_LEDGER_READ` where there is neither. */
export function ledgerFile(given: string, cwd: string): string {
  const whole = path.resolve(cwd, given);
  const isFolder = statSync(whole, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder === undefined) {
    throw new LabError(
      "LAB_LEDGER_READ",
      `${given} does not exist.`,
      "Give a ledger, or the folder of a run: lastcall rollout says where it is.",
    );
  }
  if (!isFolder) {
    return whole;
  }
  const inside = path.join(whole, LEDGER_FILE);
  if (statSync(inside, { throwIfNoEntry: false }) === undefined) {
    throw new LabError(
      "LAB_LEDGER_READ",
      `The folder ${given} holds no ${LEDGER_FILE}.`,
      "Give the folder of one run: with --all each row has its own.",
    );
  }
  return inside;
}

/** Null when it was interrupted: a large ledger takes some seconds. */
export async function openLedger(
  given: string,
  cwd: string,
  interrupted?: AbortSignal,
): Promise<OpenedLedger | null> {
  const file = ledgerFile(given, cwd);
  const reader = readLedger(file);
  const judge = createJudge();
  for await (const batch of reader.batches) {
    if (interrupted?.aborted === true) {
      return null;
    }
    batch.forEach(judge.add);
  }
  const judged = judge.judged();
  const torn = reader.tornLine();
  const warnings = [
    ...(torn === null ? [] : [`Line ${torn} of the ledger is cut off; everything before it is shown.`]),
    ...(judged.verdict.run.ended === null
      ? ["The ledger has no end: the run was cut off, and what came later is not known."]
      : []),
  ];
  return { file, judged, warnings };
}
