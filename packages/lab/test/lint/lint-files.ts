/** Lints files that a test writes down, in a folder of their own. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { lint, type LintRequest, type LintResult } from "../../src/lint/run.ts";
import { where } from "../../src/lint/source.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Makes the folder, runs `body` with it, and removes it. */
export function withFiles<T>(files: Files, body: (cwd: string) => T): T {
  const cwd = mkdtempSync(path.join(tmpdir(), "lastcall-lint-"));
  const clear = (): void => rmSync(cwd, { recursive: true, force: true });
  let result: T;
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
      writeFileSync(path.join(cwd, name), text);
    }
    result = body(cwd);
  } catch (error) {
    clear();
    throw error;
  }
  if (result instanceof Promise) {
    return result.finally(clear) as T;
  }
  clear();
  return result;
}

export function lintFiles(files: Files, request: Partial<LintRequest> = {}): LintResult {
  return withFiles(files, (cwd) => lint({ paths: ["."], ...request, cwd }));
}

/** Each finding as `severity rule file:line`. */
export function brief(files: Files, request: Partial<LintRequest> = {}): readonly string[] {
  return lintFiles(files, request).findings.map(
    ({ severity, rule, at }) => `${severity} ${rule} ${where(at)}`,
  );
}

/** The rules found, without severities and places. */
export function rulesFound(files: Files, request: Partial<LintRequest> = {}): readonly string[] {
  return lintFiles(files, request).findings.map(({ rule }) => rule);
}
