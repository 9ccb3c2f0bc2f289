/** Which processes run, read from /proc: who leads whom inside a namespace, and who is left of a group. Linux only. */

import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";

interface Stat {
  readonly pid: number;
  readonly state: string;
  readonly parent: number;
  readonly group: number;
}

function statOf(pid: string): Stat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; the fields follow the last one.
    const [state = "", parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid: Number(pid), state, parent: Number(parent), group: Number(group) };
  } catch {
    return null; // It has ended meanwhile.
  }
}

function running(): readonly Stat[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => statOf(name) ?? [])
      .filter(({ state }) => state !== "Z");
  } catch {
    return []; // No /proc: not Linux.
  }
}

/** The first child of a process, or null. */
export function childOf(pid: number): number | null {
  return running().find((one) => one.parent === pid)?.pid ?? null;
}

/** Who still runs in a process group. A zombie that nobody has reaped does not run. */
export function runningIn(group: number): readonly number[] {
  return running()
    .filter((one) => one.group === group)
    .map(({ pid }) => pid);
}

const NAMESPACE = ["--fork", "--pid", "--mount-proc", "--kill-child"];
/** As root at once; as anybody else where the system lets everybody make namespaces. */
const WAYS: readonly (readonly string[])[] = [NAMESPACE, ["--user", "--map-root-user", ...NAMESPACE]];

/** What stands before a command so that it runs as PID 1; null where nobody may do that. */
export function initPrefix(): readonly string[] | null {
  const way = WAYS.find((args) => spawnSync("unshare", [...args, "true"], { stdio: "ignore" }).status === 0);
  return way === undefined ? null : ["unshare", ...way];
}
