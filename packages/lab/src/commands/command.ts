/** What a command of the lab is: it parses its own arguments, calls a core, renders, and returns an exit code. */

import type { ExitCode } from "../exit-codes.ts";

export interface Io {
  /** Data. */
  readonly out: (text: string) => void;
  /** Talk. */
  readonly err: (text: string) => void;
  /** Whether standard error is a terminal. */
  readonly tty: boolean;
  /** How wide that terminal is now; 80 where nobody says. */
  readonly columns?: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborts on Ctrl-C or SIGTERM: stop what was started, keep what was learnt, return `EXIT.interrupted`. */
  readonly interrupted: AbortSignal;
}

export interface Command {
  /** One line for `lastcall --help`. */
  readonly summary: string;
  /** It starts nothing and never waits: a signal ends it as it ends any program, also in the middle of a long read. */
  readonly endsAtOnce?: true;
  run(args: readonly string[], io: Io): Promise<ExitCode>;
}
