/** A file that the user has named is written, or the command could not do its work. */

import path from "node:path";
import { LabError } from "../errors.ts";
import { saveFile } from "../lint/save.ts";
import type { Io } from "./command.ts";

/** Errors: LAB_LINT_WRITE. */
export function save(io: Io, file: string, text: string): void {
  try {
    saveFile(path.resolve(io.cwd, file), text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LabError(
      "LAB_LINT_WRITE",
      `${file} cannot be written: ${reason}`,
      "Give a path that can be written.",
      { cause: error },
    );
  }
}
