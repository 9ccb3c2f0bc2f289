/** Folders that a test file may write into: all of them are gone when it ends. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const made: string[] = [];
// Not `after` of a test: guardians and children of the file may write to the last.
process.once("exit", () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A new, empty one; `name` is for whoever finds it while the test runs. */
export function makeFolder(name: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), `lastcall-${name}-`));
  made.push(folder);
  return folder;
}
