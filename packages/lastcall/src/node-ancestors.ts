/** The processes above this one, where Linux shows them. */

import { readFileSync } from "node:fs";
import type { Ancestor } from "./platform/wrapper.ts";

/** A wrapper and who started it; more is of no interest. */
const LEVELS = 2;

const LONGEST_SCRIPT = 64 * 1024;

/** Nearest first; empty where there is no /proc. Some 0.2 ms. */
export function readAncestors(): readonly Ancestor[] {
  const found: Ancestor[] = [];
  let pid = process.ppid;
  try {
    while (found.length < LEVELS && pid > 0) {
      const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
      const script = readScript(pid, args);
      found.push({ pid, args, ...(script === null ? {} : { script }) });
      // The name in parentheses may itself hold parentheses and spaces.
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      pid = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    }
  } catch {
    // Not Linux, or the parent has left: what was read so far is all that can be known.
  }
  return found;
}

/** A shell's script, for what it does with signals. */
function readScript(pid: number, args: readonly string[]): string | null {
  const file = args.slice(1).find((arg) => !arg.startsWith("-"));
  if (file === undefined || args.includes("-c")) {
    return null;
  }
  try {
    const from = file.startsWith("/") ? file : `/proc/${pid}/cwd/${file}`;
    return readFileSync(from, "utf8").slice(0, LONGEST_SCRIPT);
  } catch {
    return null;
  }
}
