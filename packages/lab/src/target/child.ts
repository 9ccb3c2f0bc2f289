/** Starts what the lab judges: a child that leads a process group of its own, is guarded, and is read by nobody but us. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { LabError } from "../errors.ts";
import type { Guardian } from "./guardian.ts";

/** What the system says when there is nothing left: our own want, and no fault of the command. */
const OWN_LIMITS: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);

export interface ChildSpec {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

export interface StartedChild {
  readonly pid: number;
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
}

/** Resolves when the process exists. Errors: LAB_TARGET_NOT_STARTED. */
export async function startChild(spec: ChildSpec, guardian: Guardian): Promise<StartedChild> {
  const [program = "", ...args] = spec.command;
  const child = spawn(program, args, {
    cwd: spec.cwd,
    env: { ...spec.env, ...guardian.mark },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (child.pid === undefined) {
    const cause = await new Promise<Error>((resolve) => void child.once("error", resolve));
    if (OWN_LIMITS.has((cause as NodeJS.ErrnoException).code ?? "")) {
      throw new LabError(
        "LAB_LIMIT",
        `'${program}' could not be started: the lab ran out of its own files, processes or memory (${cause.message}).`,
        "Raise `ulimit -n` (and -u) or lower --rate; this run says nothing about the service.",
        { cause },
      );
    }
    throw new LabError(
      "LAB_TARGET_NOT_STARTED",
      `'${program}' could not be started: ${cause.message}.`,
      "Check the command after --; it is run without a shell.",
      { cause },
    );
  }
  guardian.watch(child.pid);
  child.on("error", () => undefined); // A signal that could not be delivered: the exit tells the rest.
  return { pid: child.pid, process: child };
}
