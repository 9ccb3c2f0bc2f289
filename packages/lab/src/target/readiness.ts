/** Asks a copy whether it is ready, as an orchestrator's probe does: each time on a connection of its own. */

import { request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The status, or the error's code (`ECONNREFUSED`, `TIMEOUT`). */
export type Readiness = number | string;

export function probe(port: number, path: string, timeoutMs: number, host = "127.0.0.1"): Promise<Readiness> {
  return new Promise((resolve) => {
    const asked = request({ host, port, path, agent: false, timeout: timeoutMs }, (answer) => {
      answer.resume();
      answer.once("end", () => resolve(answer.statusCode ?? 0));
      answer.once("error", () => resolve("ECONNRESET"));
    });
    asked.once("timeout", () => {
      resolve("TIMEOUT");
      asked.destroy();
    });
    asked.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    asked.end();
  });
}

/** Probes until `until` holds, then returns what it saw; null when aborted first. */
export async function probeUntil(
  port: number,
  path: string,
  everyMs: number,
  until: (seen: Readiness) => boolean,
  aborted: AbortSignal,
  host?: string,
): Promise<Readiness | null> {
  while (!aborted.aborted) {
    // A poll is one question after the other.
    const seen = await probe(port, path, 1000, host);
    if (aborted.aborted) {
      return null;
    }
    if (until(seen)) {
      return seen;
    }
    await sleep(everyMs, undefined, { signal: aborted }).catch(() => undefined); // Aborted: the loop ends.
  }
  return null;
}

/** On this machine: an answer that takes longer is a lab that was kept waiting, and no port that is closed. */
const CONNECT_MS = 1000;

/** Whether somebody accepts connections at the port. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, timeout: CONNECT_MS });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}
