/** What is said of a failure that no command has foreseen: what the system refused, or a mistake of the lab's own. */

import { LabError } from "./errors.ts";

const NEXT: Readonly<Record<string, string>> = {
  ENOSPC: "Free some space there, or name a folder on another disk (TMPDIR for temporary files).",
  EDQUOT: "Free some of your quota there, or name a folder on another disk (TMPDIR for temporary files).",
  EROFS: "Name a folder on a disk that can be written (TMPDIR for temporary files).",
  EACCES:
    "Give the user who runs lastcall the right to it, or name another path (TMPDIR for temporary files).",
  EPERM:
    "Give the user who runs lastcall the right to it, or name another path (TMPDIR for temporary files).",
  EEXIST: "Name a path that is free.",
  ENOTDIR: "Name a folder: a part of this path is a file.",
  EISDIR: "Name a file: this is a folder.",
  EMFILE: "Raise `ulimit -n`.",
  ENFILE: "The whole machine is out of file descriptors: end something else first.",
  ENOMEM: "The machine is out of memory: end something else first.",
};

function isSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "code" in error;
}

/** The first line of the stack that is not Node's own, as `file.js:12:3`. */
function place(error: Error): string {
  const line = (error.stack ?? "").split("\n").find((one) => /^\s+at (?!.*\bnode:)/.test(one));
  return /([^/]+:\d+:\d+)\)?$/.exec(line ?? "")?.[1] ?? "an unknown place";
}

export function unforeseen(error: unknown): LabError {
  if (error instanceof LabError) {
    return error;
  }
  if (isSystem(error)) {
    const next = NEXT[error.code ?? ""] ?? "LASTCALL_DEBUG=1 prints where this happened.";
    return new LabError("LAB_SYSTEM", `The system refused: ${error.message}`, next, { cause: error });
  }
  const said =
    error instanceof Error
      ? `${error.name}: ${error.message.split("\n")[0]} (${place(error)})`
      : String(error);
  return new LabError(
    "LAB_MISTAKE",
    `This is a mistake of lastcall's own: ${said}`,
    "Please report it, with what LASTCALL_DEBUG=1 prints.",
    { cause: error },
  );
}
