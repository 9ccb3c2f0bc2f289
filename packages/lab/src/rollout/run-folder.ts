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

const BASE = path.join(".lastcall", "runs");

function refuse(folder: string, cause: unknown): never {
  const why = cause instanceof Error ? cause.message : String(cause);
  throw new LabError(
    "LAB_RUN_FOLDER",
    `The run's folder ${folder} cannot be made: ${why}.`,
    "Choose a folder that can be written with --out.",
    { cause },
  );
}

/** Two labs may start within one second: the folder is whose call makes it. */
function makeOwn(wanted: string, cwd: string): string {
  for (let n = 1; ; n += 1) {
    const folder = n === 1 ? wanted : `${wanted}.${n}`;
    try {
      mkdirSync(path.resolve(cwd, folder));
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
        refuse(folder, error);
      }
    }
  }
}

function makeGiven(folder: string, cwd: string): string {
  const whole = path.resolve(cwd, folder);
  if (existsSync(path.join(whole, LEDGER_FILE))) {
    throw new LabError("LAB_RUN_FOLDER", `${folder} holds a run already.`, "Choose another --out.");
  }
  try {
    mkdirSync(whole, { recursive: true });
  } catch (error) {
    refuse(folder, error);
  }
  return folder;
}

/** For another attempt: beside the first, and never one that holds a run already. */
export function folderAgain(first: string, attempt: number, cwd: string): string {
  for (let number = attempt; ; number += 1) {
    const folder = `${first}-${number}`;
    if (!existsSync(path.resolve(cwd, folder, LEDGER_FILE))) {
      return folder;
    }
  }
}

/** One for each plan, relative to `cwd`. Throws `LAB_RUN_FOLDER` when it cannot be made or holds a run already. */
export function runFolders(
  plans: readonly RolloutPlan[],
  out: string | undefined,
  cwd: string,
): readonly string[] {
  if (out !== undefined) {
    return plans.map(({ scenario }) =>
      makeGiven(plans.length > 1 ? path.join(out, scenario) : path.normalize(out), cwd),
    );
  }
  try {
    mkdirSync(path.resolve(cwd, BASE), { recursive: true });
    // A run is nothing to commit.
    writeFileSync(path.resolve(cwd, ".lastcall", ".gitignore"), "*\n");
  } catch (error) {
    refuse(BASE, error);
  }
  const now = stamp(new Date());
  return plans.map(({ scenario }) => makeOwn(path.join(BASE, `${now}-${scenario}`), cwd));
}
