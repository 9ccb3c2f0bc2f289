/** Ended processes that nobody has asked for their exit code, which PID 1 inherits and Node never reaps. */

import { readFileSync } from "node:fs";

/** `sleep (pid 12)`; empty where this process is not PID 1. */
export function readZombies(): readonly string[] {
  if (process.pid !== 1) {
    return [];
  }
  const names: string[] = [];
  try {
    const children = readFileSync("/proc/1/task/1/children", "utf8").trim().split(" ");
    for (const pid of children.filter((text) => text !== "")) {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // The name in parentheses may itself hold parentheses and spaces.
      const end = stat.lastIndexOf(")");
      if (stat.slice(end + 2, end + 3) === "Z") {
        names.push(`${stat.slice(stat.indexOf("(") + 1, end)} (pid ${pid})`);
      }
    }
  } catch {
    // Not Linux, or a child that left while we looked: what was seen so far is all that can be named.
  }
  return names;
}
