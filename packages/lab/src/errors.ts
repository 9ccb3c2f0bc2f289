/** The lab's errors: one class, one table of codes. Match on `code`; the texts may improve. */

import { EXIT, type ExitCode } from "./exit-codes.ts";

export type LabCode = "LAB_USAGE";

/** Every code with the exit code that the command leaves with. `docs/errors.md` has a heading for each. */
export const LAB_CODES: Readonly<Record<LabCode, ExitCode>> = {
  LAB_USAGE: EXIT.usage,
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
