/** The lab's errors: one class, one table of codes. Match on `code`; the texts may improve. */

import { EXIT, type ExitCode } from "./exit-codes.ts";

export type LabCode =
  | "LAB_USAGE"
  // load/
  | "LAB_LOAD_PLAN"
  | "LAB_LOAD_ENGINE"
  // ledger/
  | "LAB_LEDGER_WRITE"
  | "LAB_LEDGER_READ"
  | "LAB_LEDGER_SCHEMA"
  // rollout/, scenario/, target/, router/
  | "LAB_OPTION"
  | "LAB_CONFIG"
  | "LAB_TARGET_NOT_STARTED"
  | "LAB_TARGET_DIED"
  | "LAB_TARGET_NOT_READY"
  | "LAB_ROUTE_REFUSED"
  | "LAB_ROUTER_MISSING"
  | "LAB_ROUTER_VERSION"
  | "LAB_ROUTER_CANNOT"
  | "LAB_ROUTER_FAILED"
  | "LAB_RUN_FOLDER"
  | "LAB_WITNESS"
  // lint/
  | "LAB_LINT_CONFIG"
  | "LAB_LINT_BASELINE"
  | "LAB_LINT_WRITE"
  | "LAB_NO_PORT"
  | "LAB_LIMIT"
  // platform/
  | "LAB_PLATFORM_MISSING"
  | "LAB_PLATFORM_REFUSED"
  | "LAB_PLATFORM_LOST"
  // prove/
  | "LAB_OUTPUT"
  // main.ts
  | "LAB_SYSTEM"
  | "LAB_MISTAKE";

/** Every code with the exit code that the command leaves with. `docs/errors.md` has a heading for each. */
export const LAB_CODES: Readonly<Record<LabCode, ExitCode>> = {
  LAB_USAGE: EXIT.usage,
  LAB_LOAD_PLAN: EXIT.usage,
  LAB_LOAD_ENGINE: EXIT.couldNotRun,
  LAB_LEDGER_WRITE: EXIT.couldNotRun,
  LAB_LEDGER_READ: EXIT.couldNotRun,
  LAB_LEDGER_SCHEMA: EXIT.couldNotRun,
  LAB_OPTION: EXIT.usage,
  LAB_CONFIG: EXIT.usage,
  LAB_TARGET_NOT_STARTED: EXIT.couldNotRun,
  LAB_TARGET_DIED: EXIT.couldNotRun,
  LAB_TARGET_NOT_READY: EXIT.couldNotRun,
  LAB_ROUTE_REFUSED: EXIT.couldNotRun,
  LAB_ROUTER_MISSING: EXIT.couldNotRun,
  LAB_ROUTER_VERSION: EXIT.couldNotRun,
  LAB_ROUTER_CANNOT: EXIT.usage,
  LAB_ROUTER_FAILED: EXIT.couldNotRun,
  LAB_WITNESS: EXIT.couldNotRun,
  LAB_RUN_FOLDER: EXIT.couldNotRun,
  LAB_LINT_CONFIG: EXIT.usage,
  LAB_LINT_BASELINE: EXIT.usage,
  LAB_LINT_WRITE: EXIT.couldNotRun,
  // The lab's own want says nothing about the service: such a run is invalid.
  LAB_NO_PORT: EXIT.invalidRun,
  LAB_LIMIT: EXIT.invalidRun,
  LAB_PLATFORM_MISSING: EXIT.couldNotRun,
  LAB_PLATFORM_REFUSED: EXIT.couldNotRun,
  LAB_PLATFORM_LOST: EXIT.couldNotRun,
  LAB_OUTPUT: EXIT.couldNotRun,
  LAB_SYSTEM: EXIT.couldNotRun,
  LAB_MISTAKE: EXIT.couldNotRun,
};

export class LabError extends Error {
  override readonly name = "LabError";
  readonly code: LabCode;
  /** What to do next, one sentence. */
  readonly next: string;

  constructor(code: LabCode, message: string, next: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}
