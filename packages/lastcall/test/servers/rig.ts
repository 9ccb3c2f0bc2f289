/** A lifecycle with real time and real sockets but without a process: its stop signal and its exit are the test's. */

import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { createLifecycle, type Host, type Lifecycle, type LifecycleOptions } from "../../src/index.ts";
import { nodeHost } from "../../src/node-host.ts";
import type { ShutdownRecord } from "../../src/record.ts";
import { TEST_ONLY_CERTIFICATE, TEST_ONLY_KEY } from "../fixtures/test-only-certificate.ts";

export type Over = "plain" | "TLS";
export const BOTH: readonly Over[] = ["plain", "TLS"];

export const CERTIFIED: { readonly key: string; readonly cert: string } = {
  key: TEST_ONLY_KEY,
  cert: TEST_ONLY_CERTIFICATE,
};

export interface Rig {
  readonly life: Lifecycle;
  readonly port: number;
  /** The platform's stop signal; nothing is awaited. */
  stop(signal?: NodeJS.Signals): void;
  /** Resolves when the life reaches the state. */
  reaches(state: Lifecycle["state"]): Promise<void>;
  /** Resolves at the exit. */
  readonly record: Promise<ShutdownRecord>;
}

/** Times that are generous to a slow machine and short enough for a test. */
export const TIMES: LifecycleOptions = {
  gracePeriodMs: 20_000,
  drainDelayMs: 0,
  gracefulTimeoutMs: 6000,
  teardownTimeoutMs: 1000,
  leaveOrder: "announce-first",
};

/** A lifecycle over `server`, listening and ready. */
export async function rig(server: NetServer, options: LifecycleOptions = {}): Promise<Rig> {
  const signals = new Map<NodeJS.Signals, () => void>();
  const nothing = (): void => {};
  const host: Host = {
    ...nodeHost(),
    env: {},
    registry: {},
    onSignal(signal, run) {
      signals.set(signal, run);
      return nothing;
    },
    onExit: () => nothing,
    onEmptyLoop: () => nothing,
    onUncaught: () => nothing,
    writeLine: nothing,
    writeRecord: nothing,
    exit: nothing,
    // It would hold the deadline against the test runner's own process.
    startWatchdog: () => ({ beat: nothing, limit: nothing, stop: nothing }),
  };
  const life = createLifecycle({ ...TIMES, ...options }, host);
  life.http(server as Server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  life.ready();
  return {
    life,
    port: (server.address() as AddressInfo).port,
    stop: (signal = "SIGTERM") => signals.get(signal)?.(),
    reaches(state) {
      return new Promise((resolve) => {
        if (life.state === state) {
          resolve();
        }
        life.events.on("state", ({ to }) => {
          if (to === state) {
            resolve();
          }
        });
      });
    },
    record: once(life.events, "record").then(([record]) => record as ShutdownRecord),
  };
}

export function httpServer(over: Over, app: RequestListener): Server {
  return over === "TLS" ? createTlsServer(CERTIFIED, app) : createServer(app);
}

/** One connection, byte by byte. */
export interface Wire {
  readonly socket: Socket;
  /** All that has come, one character per byte. */
  text(): string;
  send(bytes: string | Uint8Array): void;
  /** Resolves as soon as what has come matches. Rejects when the connection ends first. */
  until(pattern: RegExp): Promise<string>;
  /** How the connection ended: `fin` in order, `reset` by force; the code otherwise. */
  readonly ended: Promise<string>;
}

export async function dial(port: number, over: Over = "plain"): Promise<Wire> {
  const socket =
    over === "TLS"
      ? connectTls({ port, host: "127.0.0.1", ca: TEST_ONLY_CERTIFICATE })
      : connect({ port, host: "127.0.0.1" });
  await once(socket, over === "TLS" ? "secureConnect" : "connect");
  return wire(socket);
}

export function wire(socket: Socket): Wire {
  let text = "";
  let over: string | null = null;
  const waiting = new Set<() => void>();
  const wake = (): void => waiting.forEach((run) => run());
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    wake();
  });
  const ended = new Promise<string>((resolve) => {
    const end = (how: string): void => {
      over ??= how;
      resolve(over);
      wake();
    };
    socket.on("end", () => end("fin"));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      end(error.code === "ECONNRESET" || error.code === "EPIPE" ? "reset" : (error.code ?? "error")),
    );
    socket.on("close", () => end("closed"));
  });
  return {
    socket,
    text: () => text,
    send: (bytes) => void socket.write(bytes),
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(text)) {
            waiting.delete(look);
            resolve(text);
          } else if (over !== null) {
            waiting.delete(look);
            reject(
              new Error(`The connection ended (${over}) before ${String(pattern)}: ${text.slice(0, 500)}`),
            );
          }
        };
        waiting.add(look);
        look();
      }),
    ended,
  };
}

/** Waits for the next turn of the world: only to let bytes travel where nothing else tells that they have. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Resolves when the listener has closed: net's own event waits for the connections as well. */
export async function untilRefused(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const socket = connect({ port, host: "127.0.0.1" });
    // One that waited where nobody accepts any more is reset.
    socket.on("error", () => {});
    try {
      await once(socket, "connect");
      await pause(10);
    } catch {
      return;
    } finally {
      socket.destroy();
    }
  }
  throw new Error(`Port ${port} is still open.`);
}
