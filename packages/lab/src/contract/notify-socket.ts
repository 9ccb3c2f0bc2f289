/** Stands in for systemd: receives what a service sends to NOTIFY_SOCKET. Node has no datagram sockets of the unix family. */

import { type ChildProcess, spawn } from "node:child_process";
import { performance } from "node:perf_hooks";
import { Changes } from "./changes.ts";
import type { Subject } from "./subject.ts";

/** Each prints `bound`, then each datagram on a line of its own, its assignments separated by a tab. */
const RECEIVERS: readonly (readonly [string, readonly string[]])[] = [
  [
    "python3",
    [
      "-c",
      `import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True: print(s.recv(4096).decode().strip().replace("\\n", "\\t"), flush=True)`,
    ],
  ],
  [
    "perl",
    [
      "-MSocket",
      "-e",
      `$| = 1; socket(S, AF_UNIX, SOCK_DGRAM, 0) and bind(S, sockaddr_un($ARGV[0])) or die;
print "bound\\n";
while (defined recv(S, $m, 4096, 0)) { chomp $m; $m =~ tr/\\n/\\t/; print "$m\\n" }`,
    ],
  ],
];

export interface Told {
  readonly atMs: number;
  /** `READY=1`. */
  readonly assignment: string;
}

export class NotifySocket {
  readonly path: string;
  readonly told: Told[] = [];
  readonly #child: ChildProcess;
  readonly #guardian: Subject["guardian"];
  readonly #changes = new Changes();

  constructor(path: string, child: ChildProcess, guardian: Subject["guardian"]) {
    this.path = path;
    this.#child = child;
    this.#guardian = guardian;
    if (child.pid !== undefined) {
      guardian?.watch(child.pid);
    }
    let rest = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      const atMs = performance.now();
      this.told.push(
        ...lines.flatMap((line) => line.split("\t")).map((assignment) => ({ atMs, assignment })),
      );
      this.#changes.tell();
    });
    child.once("close", () => this.#changes.tell());
  }

  /** The first assignment that matches, told already or to come; null when the time is over. */
  heard(pattern: RegExp, timeoutMs: number): Promise<Told | null> {
    return this.#changes.until(
      () => this.told.find(({ assignment }) => pattern.test(assignment)) ?? null,
      timeoutMs,
      () => this.#child.exitCode !== null,
    );
  }

  close(): void {
    this.#child.kill("SIGKILL");
    if (this.#child.pid !== undefined) {
      this.#guardian?.release(this.#child.pid);
    }
  }
}

/** Null where nothing here can receive. */
export async function bindNotifySocket(
  path: string,
  guardian: Subject["guardian"],
): Promise<NotifySocket | null> {
  for (const [program, args] of RECEIVERS) {
    const child = spawn(program, [...args, path], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
    child.on("error", () => {}); // Not installed: the next one is tried.
    const socket = new NotifySocket(path, child, guardian);
    // One after the other: the second only stands in for the first.
    if ((await socket.heard(/^bound$/, 5000)) !== null) {
      return socket;
    }
    socket.close();
  }
  return null;
}
