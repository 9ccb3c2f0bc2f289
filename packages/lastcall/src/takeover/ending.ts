/** How a process has ended, and the exit code that says the same of its parent. */

import { constants } from "node:os";

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Its code, or 128 + n for signal n, as shells have it. */
export function exitCodeOf({ code, signal }: Ending): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
