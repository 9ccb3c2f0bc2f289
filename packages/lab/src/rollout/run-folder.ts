/** Where a run keeps what it leaves behind: one folder for each row, made before anything is started. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { LabError } from "../errors.ts";
import { LEDGER_FILE } from "../ledger/writer.ts";
import type { RolloutPlan } from "../scenario/plan.ts";

/** 20261129T215501: sorts by time, and is a file name everywhere. */
function stamp(now: Date): string {
  return now.toISOString().replaceAll(/[-:]|\.\d+Z$/g, "");
}

/** One for each plan, relative to `cwd`. Throws `LAB_RUN_FOLDER` when it cannot be made or holds a run already. */
export function runFolders(
  plans: readonly RolloutPlan[],
  out: string | undefined,
  cwd: string,
): readonly string[] {
  const several = plans.length > 1;
  const base = path.join(".lastcall", "runs");
  const now = stamp(new Date());
  const folders = plans.map(({ scenario }) =>
    out === undefined
      ? path.join(base, `${now}-${scenario}`)
      : several
        ? path.join(out, scenario)
        : path.normalize(out),
  );
  for (const folder of folders) {
    const whole = path.resolve(cwd, folder);
    if (existsSync(path.join(whole, LEDGER_FILE))) {
      throw new LabError("LAB_RUN_FOLDER", `${folder} holds a run already.`, "Choose another --out.");
    }
    try {
      mkdirSync(whole, { recursive: true });
      // A run is nothing to commit.
      if (out === undefined && !existsSync(path.resolve(cwd, ".lastcall", ".gitignore"))) {
        writeFileSync(path.resolve(cwd, ".lastcall", ".gitignore"), "*\n");
      }
    } catch (error) {
      throw new LabError(
        "LAB_RUN_FOLDER",
        `The run's folder ${folder} cannot be made: ${error instanceof Error ? error.message : String(error)}.`,
        "Choose a folder that can be written with --out.",
        { cause: error },
      );
    }
  }
  return folders;
}
