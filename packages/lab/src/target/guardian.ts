/**
 * No process outlives the lab. Each child leads a process group; the groups are ended when the lab ends, whichever way:
 * by an exit hook where JavaScript still runs, and by a small watcher process where it does not (SIGKILL, a crash). The
 * watcher holds the other end of a pipe: when the lab is gone the pipe closes, and that cannot be missed.
 * What has left its group meanwhile is found by the mark in its environment.
 */

import { spawn } from "node:child_process";
import { endStrays, makeMark, MARK_NAME } from "./strays.ts";

export interface Guardian {
  /** For the environment of a child whose own children shall not outlive the lab either. */
  readonly mark: Readonly<Record<string, string>>;
  /** The group led by this process is ended with the lab; at once when the guardian has been closed. */
  watch(pid: number): void;
  /** Ends what is left of the group now, and forgets it: its number may be given to a stranger later. */
  release(pid: number): void;
  /** Ends every group and the watcher. */
  close(): void;
}

// POSIX sh, no tools until the lab is gone: a watcher must start within milliseconds and cost nothing. It ignores the signals of a terminal,
// which reach it only if someone signals its own group.
const WATCHER = `
trap '' INT TERM HUP
groups=
some=
while read -r verb id; do
  case $verb in
    watch) groups="$groups $id"; some=yes ;;
    release)
      kept=
      for group in $groups; do [ "$group" = "$id" ] || kept="$kept $group"; done
      groups=$kept ;;
  esac
done
for group in $groups; do kill -9 "-$group" 2>/dev/null; done
[ -z "$some" ] || for file in /proc/[0-9]*/environ; do
  if grep -qsF "$1" "$file"; then pid=\${file#/proc/}; kill -9 "\${pid%/environ}" 2>/dev/null; fi
done
`;

/** Whether there was such a group (a zombie that nobody has reaped counts as one). */
export function killGroup(pid: number): boolean {
  try {
    process.kill(-pid, "SIGKILL");
    return true;
  } catch {
    return false; // ESRCH: it has ended, which is what we want.
  }
}

export function startGuardian(): Guardian {
  const groups = new Set<number>();
  let isClosed = false;
  const mark = makeMark();
  let hasChildren = false;
  const watcher = spawn("/bin/sh", ["-c", WATCHER, "sh", `${MARK_NAME}=${mark}`], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const pipe = watcher.stdin;
  // Without a watcher the exit hook still stands; a lab that cannot write to it has nothing better to do.
  watcher.on("error", () => undefined);
  pipe.on("error", () => undefined);
  watcher.unref();
  const say = (verb: string, pid: number): void => {
    if (pipe.writable) {
      pipe.write(`${verb} ${pid}\n`);
    }
  };
  const endAll = (): void => {
    for (const pid of groups) {
      killGroup(pid);
    }
    groups.clear();
    if (hasChildren) {
      endStrays(mark);
    }
  };
  process.on("exit", endAll);
  return {
    mark: { [MARK_NAME]: mark },
    watch: (pid) => {
      hasChildren = true;
      if (isClosed) {
        killGroup(pid);
        return;
      }
      groups.add(pid);
      say("watch", pid);
    },
    release: (pid) => {
      if (groups.delete(pid)) {
        killGroup(pid);
        say("release", pid);
      }
    },
    close: () => {
      isClosed = true;
      endAll();
      process.removeListener("exit", endAll);
      pipe.end();
    },
  };
}
