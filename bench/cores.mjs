// Which cores this process may use, how a command is held on one of them, and how it goes before others.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** `0-3,8` as the kernel writes it. */
function listed(text) {
  return text.split(",").flatMap((part) => {
    const [from, to = from] = part.split("-").map(Number);
    return Array.from({ length: to - from + 1 }, (_, n) => from + n);
  });
}

/** Two cores, the first for what is asked and the second for who asks; null where they cannot be told apart. */
export function twoCores() {
  const status = "/proc/self/status";
  if (!existsSync(status) || spawnSync("taskset", ["--version"]).error !== undefined) return null;
  const [, text = ""] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync(status, "utf8")) ?? [];
  const [first, second] = listed(text);
  return second === undefined ? null : [first, second];
}

/** The words of a command that runs on these cores only; the command itself where there is no telling. */
export const pinned = (cores, words) =>
  cores === null ? words : ["taskset", "-c", cores.join(","), ...words];

/**
 * The command in a session of its own, which goes before others. Linux shares processors out among sessions first (autogroup), so
 * a thread's own priority says nothing to the copies and routers that a lab starts: each of them is a session. Needs Linux and root;
 * null where it cannot be had.
 */
export function ahead(words) {
  const shell = 'echo -10 > /proc/self/autogroup && exec "$@"';
  const all = ["setsid", "--wait", "sh", "-c", shell, "sh"];
  const [program, ...args] = [...all, "true"];
  return spawnSync(program, args).status === 0 ? [...all, ...words] : null;
}
