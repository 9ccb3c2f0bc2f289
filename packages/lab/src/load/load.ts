/** What is asked of a load engine, and what it gives back: plain data that crosses a thread. */

import type { RequestRecord } from "../ledger/records.ts";

/** When requests are due. Pure: the n-th arrival is a function of n and the seed. */
export type Arrivals =
  | { readonly kind: "constant"; readonly ratePerSecond: number }
  | { readonly kind: "poisson"; readonly ratePerSecond: number }
  /** A constant rate for a while, then another; the last one stays. A rate of 0 is a pause. */
  | { readonly kind: "steps"; readonly steps: readonly ArrivalStep[] };

export interface ArrivalStep {
  readonly ratePerSecond: number;
  readonly forMs: number;
}

/** Who sends: the lab's own client, which hides nothing, or one that real programs use, with all that it does by itself. */
export const ENGINES = ["raw", "node", "undici"] as const;
export type EngineName = (typeof ENGINES)[number];

export interface RequestTemplate {
  readonly method: "GET" | "POST";
  /** May hold `{id}`. */
  readonly path: string;
  /** May hold `{id}`; sent as JSON. Null where `upload` is the body, or there is none. */
  readonly body: string | null;
  /** Its share of the mix, a positive weight. */
  readonly weight: number;
  /** Its name in the records; the method by default. */
  readonly name?: string;
  /** `fresh`: a connection of its own, closed after the answer. Default: `pooled`, where the plan keeps connections. */
  readonly connection?: "pooled" | "fresh";
  readonly upload?: Upload;
  /** The answer is a stream of server-sent events that is left open for this long, then closed by the client. */
  readonly eventsForMs?: number;
  /** A WebSocket instead of a request. */
  readonly webSocket?: WebSocketTalk;
  /** HTTP/2 with prior knowledge; absent: HTTP/1.1. */
  readonly protocol?: "h2";
}

/** A WebSocket that is opened, talked over and left with a close frame. One that the service ends in good order is opened again. */
export interface WebSocketTalk {
  /** From the first opening to our close frame, comings back included. */
  readonly forMs: number;
  readonly everyMs: number;
  /** The text of a message: `{id}` is the request's id, `{n}` the number of the message, from 1. */
  readonly message: string;
  /** What answers it. `echo`: a message that holds its text word for word. `any`: the next message, whatever it says. */
  readonly answer: "echo" | "any";
}

/** A body of bytes, with its SHA-256 in `content-digest` (RFC 9530). */
export interface Upload {
  readonly bytes: number;
  /** `length`: announced by Content-Length. `chunked`: not announced at all. */
  readonly framing: "length" | "chunked";
  /** In pieces of so many bytes, one after the other... */
  readonly pieceBytes: number;
  /** ...so far apart; 0: as fast as they go. */
  readonly everyMs: number;
}

export interface LoadPlan {
  readonly host: string;
  readonly port: number;
  readonly seed: number;
  readonly arrivals: Arrivals;
  readonly mix: readonly RequestTemplate[];
  /**
   * Reuse connections (a pool that takes the most recently used first), or a new one for each request. At 1,000 requests/s and above
   * those that the first 10 ms need are opened before the load begins; never more than 8 new ones in a millisecond.
   */
  readonly keepAlive: boolean;
  /** A request that has not ended this long after its intended time has failed with `TIMEOUT`. */
  readonly timeoutMs: number;
  /** An upper bound on the run, whatever happens. */
  readonly maxDurationMs: number;
  /** Default: `raw`. */
  readonly engine?: EngineName;
  /** Threads that send, each its share of the same arrivals. Default: 1. */
  readonly workers?: number;
  /** Ids are `PREFIX-000001`, ...: letters, digits and `-`. Default: `r` and the seed. */
  readonly idPrefix?: string;
}

/**
 * What the engine adds to each request: the header `x-request-id` with its id, and for a POST also `idempotency-key`.
 * `createLoadEngine(plan, clockBaseMs)` in engine.ts makes an engine; `clockBaseMs` is `baseMs` of the run's clock
 * (ledger/clock.ts), from which all its times count.
 */
export interface LoadEngine {
  /** Begins to send; resolves when the first request has been dispatched. */
  start(): Promise<void>;
  /** Sends no more; resolves when every request has its fate. */
  stop(): Promise<void>;
  /** Ends at once: open requests are dropped without a record. */
  abort(): Promise<void>;
  /** Batches of finished requests, in the order of their ends. */
  onRecords(listener: (batch: readonly RequestRecord[]) => void): void;
}
