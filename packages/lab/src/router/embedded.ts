/** The embedded router: needs nothing installed, and stands in for nginx where there is none. */

import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { LabError } from "../errors.ts";
import type { RouterLogRecord } from "../ledger/records.ts";
import type { Stalls } from "../stalls.ts";
import type { EmbeddedStart, FromEmbedded, ToEmbedded } from "./embedded-thread.ts";
import type { Router, RouterContext, RouterOptions, Upstream } from "./router.ts";

/** As the experiments set nginx's. */
const CONNECT_TIMEOUT_MS = 5000;
const READ_TIMEOUT_MS = 20_000;
const LEAVES_WITHIN_MS = 2000;

export async function startEmbedded(
  options: RouterOptions,
  upstreams: readonly Upstream[],
  context: Pick<RouterContext, "clock" | "emit"> & Partial<Pick<RouterContext, "findPort">>,
): Promise<Router> {
  // One of the system's own choosing comes from the range of outgoing connections, of which a load may leave none.
  const chosen = options.port === 0 ? await context.findPort?.() : undefined;
  const start: EmbeddedStart = {
    options: {
      port: chosen ?? options.port,
      retries: options.retries,
      retryPosts: options.retryPosts === true,
      upstreamKeepAlive: options.upstreamKeepAlive,
      clientKeepAlive: options.clientKeepAlive,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      readTimeoutMs: READ_TIMEOUT_MS,
      webSockets: options.webSockets === true,
    },
    pooledAtRemoval: options.pooledAtRemoval,
    health: options.removal === "readiness" ? options.health : null,
    upstreams,
    clockBaseMs: context.clock.baseMs,
  };
  const worker = new Worker(new URL("./embedded-thread.js", import.meta.url), { workerData: start });
  const records: RouterLogRecord[] = [];
  const waiting = new Map<
    number,
    { readonly resolve: (stalls: Stalls | null) => void; readonly reject: (error: Error) => void }
  >();
  let tickets = 0;
  let ended: LabError | null = null;

  const port = await new Promise<number>((resolve, reject) => {
    const end = (reason: string): void => {
      ended ??= new LabError(
        "LAB_ROUTER_FAILED",
        `The embedded router ended: ${reason}.`,
        "Run again; if it happens again, use --router nginx.",
      );
      reject(ended);
      for (const one of waiting.values()) {
        one.reject(ended);
      }
      waiting.clear();
    };
    worker.on("message", (message: FromEmbedded) => {
      switch (message.kind) {
        case "listening":
          resolve(message.port);
          break;
        case "failed":
          end(message.reason);
          break;
        case "done":
          waiting.get(message.ticket)?.resolve(message.stalls);
          waiting.delete(message.ticket);
          break;
        case "log":
          records.push(message.record);
          break;
        case "health":
          context.emit({
            kind: "event",
            atMs: message.atMs,
            source: "router",
            copy: message.upstream.copy,
            event: message.up ? "added" : "removed",
            detail: { port: message.upstream.port, by: "health check" },
          });
          break;
      }
    });
    worker.once("error", (error) => end(error.message));
    worker.once("exit", (code) => end(`its thread left with ${code}`));
  });

  const ask = (message: (ticket: number) => ToEmbedded): Promise<Stalls | null> =>
    new Promise((resolve, reject) => {
      if (ended !== null) {
        reject(ended);
        return;
      }
      tickets += 1;
      waiting.set(tickets, { resolve, reject });
      worker.postMessage(message(tickets), []);
    });

  return {
    name: "embedded",
    version: `embedded router (node ${process.versions.node})`,
    port,
    set: async (next) => void (await ask((ticket) => ({ kind: "set", ticket, upstreams: next }))),
    log: async () => {
      // Lines come as messages: what was logged before this question has come before its answer.
      if (ended === null) {
        await ask((ticket) => ({ kind: "flush", ticket }));
      }
      return [...records];
    },
    // It tells in the answer's header all that a line would say.
    accessLog: () => Promise.resolve(null),
    stalls: async () =>
      (await ask((ticket) => ({ kind: "stalls", ticket }))) ?? { stallP95Ms: null, stallMaxMs: null },
    stop: async () => {
      if (ended === null) {
        // Node 20 has been seen to spin for ever in a thread that was terminated with sockets in the middle of their end.
        const left = once(worker, "exit");
        await ask((ticket) => ({ kind: "stop", ticket })).catch(() => undefined); // Then it has ended already.
        await Promise.race([left, sleep(LEAVES_WITHIN_MS)]);
      }
      await worker.terminate();
    },
  };
}
