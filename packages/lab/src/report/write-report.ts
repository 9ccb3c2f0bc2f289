/** Writes a report where somebody asked for it, or says why that cannot be. */

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { LabError } from "../errors.ts";

/** The page of a run, in its folder. */
export const REPORT_FILE = "report.html";

export function writeReport(file: string, cwd: string, text: string): void {
  const whole = path.resolve(cwd, file);
  try {
    mkdirSync(path.dirname(whole), { recursive: true });
    writeFileSync(whole, text);
  } catch (error) {
    throw new LabError(
      "LAB_OUTPUT",
      `The report ${file} could not be written: ${(error as Error).message}.`,
      "Name a file in a folder that can be written.",
      { cause: error },
    );
  }
}
