/** Which ports the processes of a group listen on, read from /proc: for a service that takes no port from us. Linux only. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

function groupOf(pid: string): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; the fields after it are state, parent, group.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
  } catch {
    return null;
  }
}

function socketsOf(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** Ports in the state LISTEN (0A), by the inode of their socket. */
function listeners(): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const file of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    try {
      for (const line of readFileSync(file, "utf8").split("\n").slice(1)) {
        const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
        if (state === "0A") {
          found.set(inode, Number.parseInt(local.split(":").at(-1) ?? "", 16));
        }
      }
    } catch {
      // Not Linux: the caller falls back on PORT.
    }
  }
  return found;
}

/** In ascending order; empty where /proc says nothing. */
export function listeningPorts(group: number): readonly number[] {
  const byInode = listeners();
  if (byInode.size === 0) {
    return [];
  }
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && groupOf(name) === group);
  const ports = pids.flatMap((pid) => socketsOf(pid).map((inode) => byInode.get(inode)));
  return [...new Set(ports.filter((port) => port !== undefined))].toSorted((a, b) => a - b);
}
