/**
 * Where an experiment is played: services in a folder of their own, a router, waits that end with Ctrl-C, and the lab's own
 * lateness. Everything that it starts ends with it.
 */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { RunClock } from "../ledger/clock.ts";
import { startRunClock } from "../ledger/clock.ts";
import { openScope, type Scope } from "../rollout/scope.ts";
import { findRouter } from "../router/find.ts";
import type { FoundRouter, Router, RouterOptions, Upstream } from "../router/router.ts";
import { startRouter } from "../router/start.ts";
import { portFinder } from "../target/free-port.ts";
import type { Guardian } from "../target/guardian.ts";
import { startGuardian } from "../target/guardian.ts";
import { startOrders, type OrdersService, type OrdersSpec } from "./orders.ts";
import type { Tale } from "./tale.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface StageOptions {
  readonly tale: Tale;
  readonly env: Environment;
  readonly interrupted: AbortSignal;
  /** Keeps what the services leave behind; absent: a temporary folder that is removed. */
  readonly folder?: string;
}

export interface Stage {
  readonly tale: Tale;
  readonly env: Environment;
  readonly folder: string;
  readonly scope: Scope;
  readonly interrupted: AbortSignal;
  readonly guardian: Guardian;
  readonly clock: RunClock;
  /** Milliseconds on a monotonic clock. */
  now(): number;
  sleep(ms: number): Promise<void>;
  /** The promise, unless Ctrl-C comes first. */
  until<T>(promise: Promise<T>): Promise<T>;
  /** A copy of the orders service that serves. */
  start(spec: OrdersSpec): Promise<OrdersService>;
  /** nginx where it is found, else the embedded router. */
  route(services: readonly OrdersService[], options?: Partial<RouterOptions>): Promise<Router>;
  /** Null where there is none. */
  findNginx(): Promise<FoundRouter | null>;
  port(): Promise<number>;
  /** For `--json` of a run that is interrupted. */
  learnt(name: string, facts: unknown): void;
  readonly facts: Readonly<Record<string, unknown>>;
  /** The longest delay of the lab's own timers so far. */
  lateMs(): number;
  close(): Promise<void>;
}

const RESOLUTION_MS = 10;

/** What a user has set for services of theirs is no part of an experiment. */
function withoutOurs(env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !name.startsWith("LASTCALL_") && name !== "NODE_TEST_CONTEXT" && name !== "NODE_OPTIONS",
    ),
  );
}

export function openStage(options: StageOptions): Stage {
  const { tale } = options;
  const scope = openScope(options.interrupted);
  const guardian = startGuardian();
  const clock = startRunClock();
  const findPort = portFinder();
  const env = withoutOurs(options.env);
  const facts: Record<string, unknown> = {};
  const lateness = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  lateness.enable();
  let folder = options.folder;
  if (folder === undefined) {
    const temporary = mkdtempSync(path.join(tmpdir(), "lastcall-lab-"));
    scope.defer(() => rmSync(temporary, { recursive: true, force: true }));
    folder = temporary;
  } else {
    mkdirSync(folder, { recursive: true });
  }
  const home = folder;
  scope.defer(() => guardian.close());
  let routers = 0;
  const nginx = (): Promise<FoundRouter | null> => findRouter("nginx", options.env);
  return {
    tale,
    env,
    folder: home,
    scope,
    interrupted: options.interrupted,
    guardian,
    clock,
    now: () => performance.now(),
    sleep: (ms) => scope.sleep(ms),
    until: (promise) => scope.orInterrupted(promise),
    start: async (spec) => {
      const port = await findPort();
      scope.assertOpen();
      const service = await startOrders(spec, port, { clock, guardian, folder: home, env });
      scope.defer(() => service.copy.end());
      await scope.orInterrupted(service.copy.ready());
      return service;
    },
    route: async (services, wanted = {}) => {
      const found = await nginx();
      routers += 1;
      const upstreams = services.map(({ copy }): Upstream => ({
        copy: copy.name,
        host: "127.0.0.1",
        port: copy.port,
      }));
      const given: RouterOptions = {
        port: 0,
        retries: false,
        upstreamKeepAlive: false,
        clientKeepAlive: false,
        removal: "control-plane",
        pooledAtRemoval: "closed-when-idle",
        health: { path: "/ready", intervalMs: 1000, fall: null, rise: null },
        passive: null,
        folder: path.join(home, `router-${routers}`),
        ...wanted,
      };
      const context = { clock, guardian, findPort, emit: () => undefined };
      const router = await startRouter(found, given, upstreams, context);
      scope.defer(() => router.stop());
      return router;
    },
    findNginx: nginx,
    port: findPort,
    learnt: (name, known) => void (facts[name] = known),
    facts,
    lateMs: () => Math.max(0, lateness.max / 1e6 - RESOLUTION_MS),
    close: async () => {
      lateness.disable();
      await scope.close();
    },
  };
}
