/** Where copies run when they are no child processes of the lab: something else starts and stops them. */

import type { Copy, CopyContext } from "../target/copy.ts";

export interface CopyHost {
  readonly name: "compose";
  /** The platform's own, which it enforces itself. */
  readonly gracePeriodMs: number;
  /** What is run, for the talk before the run. */
  readonly about: string;
  /** Starts a copy that serves on this port of 127.0.0.1; `folder` takes what it needs on disk. */
  startCopy(name: string, port: number, folder: string, context: CopyContext): Promise<Copy>;
}
