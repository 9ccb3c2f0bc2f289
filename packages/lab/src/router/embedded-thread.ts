/** The thread in which the embedded router runs, so that neither the lab nor the load engine slows it. */

import { parentPort, workerData } from "node:worker_threads";
import { startRunClock } from "../ledger/clock.ts";
import { raisePriority } from "../priority.ts";
import { startProxy, type ProxyOptions } from "./proxy.ts";
import type { RouterLogRecord } from "../ledger/records.ts";
import type { Upstream } from "./router.ts";

export interface EmbeddedStart {
  readonly options: ProxyOptions;
  readonly upstreams: readonly Upstream[];
  readonly clockBaseMs: number;
}

/** Each is answered with its ticket, after all that was said before. */
export type ToEmbedded =
  | { readonly kind: "set"; readonly ticket: number; readonly upstreams: readonly Upstream[] }
  | { readonly kind: "flush"; readonly ticket: number };

export type FromEmbedded =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "done"; readonly ticket: number }
  | { readonly kind: "log"; readonly record: RouterLogRecord };

const port = parentPort;
if (port !== null) {
  const say = (message: FromEmbedded): void => port.postMessage(message);
  raisePriority();
  const start = workerData as EmbeddedStart;
  const clock = startRunClock(start.clockBaseMs);
  try {
    const proxy = await startProxy(start.options, start.upstreams, (failure) =>
      say({ kind: "log", record: { kind: "router-log", atMs: clock.now(), ...failure } }),
    );
    port.on("message", (message: ToEmbedded) => {
      if (message.kind === "set") {
        proxy.set(message.upstreams);
      }
      say({ kind: "done", ticket: message.ticket });
    });
    say({ kind: "listening", port: proxy.port });
  } catch (error) {
    say({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
  }
}
