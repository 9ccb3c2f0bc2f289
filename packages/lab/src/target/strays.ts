/**
 * Processes that have left the group which they were started in: daemons, `setsid`, `pm2 start`. What they inherit and rarely shed is
 * their environment, so the lab's children carry a mark in it. Linux only: elsewhere nobody can tell, and nothing is ended.
 */

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

/** Not of the `LASTCALL_` family: the library warns of those that it does not know. */
export const MARK_NAME = "IN_LASTCALL_LAB";

export function makeMark(): string {
  return `${process.pid}-${randomBytes(6).toString("hex")}`;
}

function carries(pid: string, entry: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(entry);
  } catch {
    return false; // It has ended, or it is somebody else's.
  }
}

/** Ends every process that carries the mark. */
export function endStrays(mark: string): void {
  let pids: readonly string[];
  try {
    pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  } catch {
    return; // No process table to read.
  }
  for (const pid of pids.filter((one) => carries(one, `${MARK_NAME}=${mark}`))) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}
