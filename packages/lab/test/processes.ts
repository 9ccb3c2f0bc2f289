/** What tests ask about processes. */

import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

/** By the state letter: a zombie has ended, though signal 0 reaches it until PID 1 has reaped it. */
export function isAlive(pid: number): boolean {
  try {
    const state = execFileSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" }).trim();
    return state !== "" && !state.startsWith("Z");
  } catch {
    return false;
  }
}

/** Resolves when none of them is alive; fails after ten seconds. */
export async function allGone(pids: readonly number[]): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (!pids.some(isAlive)) {
      return;
    }
    await sleep(50);
  }
  throw new Error(`still alive: ${pids.filter(isAlive).join(" ")}`);
}

export function childrenOf(parent: number): readonly number[] {
  try {
    const listing = execFileSync("ps", ["-o", "pid=", "--ppid", String(parent)], { encoding: "utf8" });
    return listing.trim().split(/\s+/).filter(Boolean).map(Number);
  } catch {
    return []; // It has none.
  }
}
