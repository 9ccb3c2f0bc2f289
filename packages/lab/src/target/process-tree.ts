/** Which programs a copy consists of, by the system's process table. Linux only: elsewhere nobody can tell, and nothing is guessed. */

import { readdirSync, readFileSync } from "node:fs";

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null; // Not Linux, or the process has ended.
  }
}

function childOf(pid: number): number | null {
  const [first] = (read(`/proc/${pid}/task/${pid}/children`) ?? "").trim().split(/\s+/);
  return first === undefined || first === "" ? null : Number(first);
}

function nameOf(pid: number): string | null {
  return read(`/proc/${pid}/comm`)?.trim() ?? null;
}

/** Deep enough for a package manager in a shell in an init. */
const DEPTH = 6;

/** The program that gets a signal sent to this process, and the last one below it where it has started another. */
export function programsFrom(pid: number): { readonly program?: string; readonly below?: string } {
  const program = nameOf(pid);
  let last: number | null = null;
  for (let next = childOf(pid), depth = 0; next !== null && depth < DEPTH; depth += 1) {
    last = next;
    next = childOf(next);
  }
  const below = last === null ? null : nameOf(last);
  return { ...(program === null ? {} : { program }), ...(below === null ? {} : { below }) };
}

/** How many processes of the group live; those that have ended and were not reaped do not count. */
export function groupMembers(group: number): number {
  try {
    process.kill(-group, 0);
  } catch {
    return 0;
  }
  let members = 0;
  try {
    for (const entry of readdirSync("/proc")) {
      // After the name, which stands in parentheses and may hold anything: state, parent, group.
      const stat = /^\d+$/.test(entry) ? read(`/proc/${entry}/stat`) : null;
      const [state, , of] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
      members += Number(of) === group && state !== "Z" && state !== "X" ? 1 : 0;
    }
  } catch {
    return 1; // No process table to read: the group is there, and its port will tell.
  }
  return members;
}
