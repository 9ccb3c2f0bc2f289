/** The public face of a lifecycle: what an app calls, and what it hears. */

import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Budget } from "./budget.ts";
import type { Undo } from "./host.ts";
import type { State } from "./machine.ts";
import type { ShutdownRecord } from "./record.ts";
import type { SignalHeard } from "./signals.ts";
import type { DrainableServer } from "./servers/attach.ts";
import type { ProbeHandler } from "./servers/probe-handler.ts";
import type { StreamPolicy } from "./servers/streams.ts";
import type { TaskOptions } from "./tasks.ts";
import type { TeardownHook } from "./teardown.ts";

/** A change of state. `atMs` counts from the first stop signal, and is 0 before it. */
export interface StateChange {
  readonly from: State;
  readonly to: State;
  readonly atMs: number;
}

export interface LifecycleEvents {
  state: [StateChange];
  signal: [SignalHeard];
  /** The deadline has come with work unfinished. */
  expired: [{ readonly requests: number; readonly tasks: number }];
  record: [ShutdownRecord];
}

type RequestHandler<Rest extends unknown[], Result> = (
  request: IncomingMessage,
  response: ServerResponse,
  ...rest: Rest
) => Result;

/**
 * The life of a service, from start-up to an honest exit. There is one per process; `createLifecycle` makes or joins it.
 *
 * @example
 * const life = createLifecycle();
 * life.http(server);
 * life.onTeardown("database", () => db.close());
 * server.listen(8080, () => life.ready());
 */
export interface Lifecycle extends AsyncDisposable {
  readonly state: State;
  /** The checked times of the stop, in milliseconds. */
  readonly budget: Budget;
  /** Aborts when the stop begins. For loops, subscriptions and streams that should end by themselves. */
  readonly signal: AbortSignal;
  readonly events: EventEmitter<LifecycleEvents>;
  /**
   * Drains a server of `node:http`, `node:https` or `node:http2` (also with `allowHTTP1`), before or after `listen()`; any
   * number of them is one drain. Leave its `close()` to the lifecycle: a
   * server that closes itself earlier loses what this promises. Errors: LASTCALL_SERVER.
   */
  http(server: DrainableServer): this;
  /** Readiness turns 200. Without it the service never gets traffic from a router that asks. */
  ready(): void;
  /**
   * Runs `hook` after the last work; the last registered first. It is bounded by the teardown timeout, and a failure
   * stops no other hook. Returns a function that takes it off again.
   */
  onTeardown(name: string, hook: TeardownHook): Undo;
  /**
   * Tracks work that goes on after its response; the drain waits for it. `work` gets a signal that aborts before the
   * deadline. The promise settles as `work` does; ignoring it is safe. Errors: LASTCALL_STOPPING once teardown
   * began, or `taskTimeoutMs` after the gate where that is set.
   */
  task<T>(name: string, work: (signal: AbortSignal) => Promise<T> | T, options?: TaskOptions): Promise<T>;
  /** With boundary `handler`, a request given to `handler` counts until the promise that it returns has settled. */
  handler<Rest extends unknown[], Result>(
    handler: RequestHandler<Rest, Result>,
  ): RequestHandler<Rest, Result>;
  /** Aborts when the client has gone away, and `abortWindowMs` before the deadline. Made only when asked for. */
  requestSignal(request: IncomingMessage | Http2ServerRequest): AbortSignal;
  /**
   * Ends a response that would never end by itself, in order and with its last chunk. `end-at-drain`: as soon as its
   * client can go elsewhere, at the stop signal or, with leave order `listener-first`, when the listener has closed; with
   * `announce: "spread"` one stream after the other. `end-at-gate`: when the listener has closed. `keep-until-deadline`:
   * `abortWindowMs` before the deadline. One that begins after the stop signal ends at the gate at the earliest.
   *
   * Returns a signal that aborts when the stream ends, by the lifecycle or by its client: stop writing then. Listeners run
   * before the end and may write last words; `lastChunk` is written after them, unless they have ended the response.
   *
   * @example
   * const over = life.stream(response, "end-at-drain");
   * response.writeHead(200, { "content-type": "text/event-stream" });
   * const timer = setInterval(() => response.write(`data: ${Date.now()}\n\n`), 1000);
   * over.addEventListener("abort", () => clearInterval(timer));
   */
  stream(
    response: ServerResponse | Http2ServerResponse,
    policy: StreamPolicy,
    lastChunk?: string,
  ): AbortSignal;
  /** Answers the liveness, readiness and state probes: a handler, or middleware when `next` is given. */
  readonly probes: ProbeHandler;
  /** Time until the deadline in milliseconds; Infinity while nothing has asked to stop. */
  remainingMs(): number;
  /** Begins the stop, if nothing has, and resolves with the record just before the process exits. The same promise for all. */
  shutdown(reason?: string): Promise<ShutdownRecord>;
}
