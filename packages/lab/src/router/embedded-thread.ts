/** The thread in which the embedded router runs, so that neither the lab nor the load engine slows it. */

import { parentPort, workerData } from "node:worker_threads";
import { startRunClock } from "../ledger/clock.ts";
import { raisePriority } from "../priority.ts";
import { startHealth } from "./health.ts";
import type { HealthChecks, PooledAtRemoval } from "./options.ts";
import { startProxy, type ProxyFailure, type ProxyOptions } from "./proxy.ts";
import type { RouterLogRecord } from "../ledger/records.ts";
import { watchStalls, type Stalls } from "../stalls.ts";
import type { Upstream } from "./router.ts";
import { startTcpProxy } from "./tcp-proxy.ts";

export interface EmbeddedStart {
  readonly options: ProxyOptions;
  readonly pooledAtRemoval: PooledAtRemoval;
  /** Null: it asks no copy for its readiness. */
  readonly health: HealthChecks | null;
  readonly upstreams: readonly Upstream[];
  readonly clockBaseMs: number;
}

/** Each is answered with its ticket, after all that was said before. */
export type ToEmbedded =
  | { readonly kind: "set"; readonly ticket: number; readonly upstreams: readonly Upstream[] }
  | { readonly kind: "flush"; readonly ticket: number }
  /** No more timers are watched after it. */
  | { readonly kind: "stalls"; readonly ticket: number }
  /** Everything is closed; the thread leaves by itself when that is done. */
  | { readonly kind: "stop"; readonly ticket: number };

export type FromEmbedded =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "done"; readonly ticket: number; readonly stalls: Stalls | null }
  | { readonly kind: "log"; readonly record: RouterLogRecord }
  | { readonly kind: "health"; readonly atMs: number; readonly upstream: Upstream; readonly up: boolean };

const port = parentPort;
if (port !== null) {
  const say = (message: FromEmbedded): void => port.postMessage(message);
  raisePriority();
  const start = workerData as EmbeddedStart;
  const clock = startRunClock(start.clockBaseMs);
  try {
    const { options, upstreams, pooledAtRemoval } = start;
    const log = (failure: ProxyFailure): void =>
      say({ kind: "log", record: { kind: "router-log", atMs: clock.now(), ...failure } });
    const proxy = await (pooledAtRemoval === "closed-when-idle"
      ? startProxy(options, upstreams, log)
      : startTcpProxy({ ...options, cut: pooledAtRemoval === "cut" }, upstreams, log));
    const health =
      start.health === null
        ? null
        : startHealth(start.health, (upstream, up) => {
            proxy.set(health?.ready() ?? []);
            say({ kind: "health", atMs: clock.now(), upstream, up });
          });
    health?.watch(upstreams);
    const stalls = watchStalls(clock);
    port.on("message", (message: ToEmbedded) => {
      if (message.kind === "set") {
        health?.watch(message.upstreams);
        proxy.set(health === null ? message.upstreams : health.ready());
      }
      say({
        kind: "done",
        ticket: message.ticket,
        stalls: message.kind === "stalls" ? stalls.stop() : null,
      });
      if (message.kind === "stop") {
        stalls.stop();
        health?.stop();
        proxy.close();
        port.close();
      }
    });
    say({ kind: "listening", port: proxy.port });
  } catch (error) {
    say({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
  }
}
