/** Asks a copy whether it is ready, as an orchestrator's probe does: each time on a connection of its own. */

import { request } from "node:http";
import { connect as connect2 } from "node:http2";
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

/** The same by HTTP/2 without TLS, for a copy that speaks nothing else. */
export function probeHttp2(
  port: number,
  path: string,
  timeoutMs: number,
  host = "127.0.0.1",
): Promise<Readiness> {
  return new Promise((resolve) => {
    const session = connect2(`http://${host}:${port}`);
    const end = (seen: Readiness): void => {
      clearTimeout(timer);
      resolve(seen);
      session.destroy();
    };
    const timer = setTimeout(() => end("TIMEOUT"), timeoutMs);
    session.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    const asked = session.request({ ":path": path }, { endStream: true });
    asked.once("response", (headers) => end(headers[":status"] ?? 0));
    asked.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    asked.once("close", () => end("ECONNRESET"));
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
  ask: typeof probe = probe,
): Promise<Readiness | null> {
  while (!aborted.aborted) {
    // A poll is one question after the other.
    const seen = await ask(port, path, 1000, host);
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

/** Where services say that they are ready, the most telling first. */
const USUAL_PATHS = ["/readyz", "/ready", "/health/ready", "/healthz", "/health", "/livez", "/"];

/** The first of the usual paths that answers 200; null when none does. */
export async function usualReadiness(port: number, ask: typeof probe = probe): Promise<string | null> {
  const seen = await Promise.all(USUAL_PATHS.map((path) => ask(port, path, 1000)));
  return USUAL_PATHS.find((_, n) => seen[n] === 200) ?? null;
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
