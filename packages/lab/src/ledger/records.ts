/**
 * The ledger: one run as a stream of plain records, in the order in which they happened. Every verdict and every report
 * is a function of this stream, so that a run can be judged again from its file. One record is one line of NDJSON.
 */

/** Milliseconds since the start of the run, on the monotonic clock. */
export type RunMs = number;

/** The first record of a ledger. */
export interface RunRecord {
  readonly kind: "run";
  readonly schema: "lastcall.ledger/1";
  readonly scenario: string;
  readonly seed: number;
  /** Wall time, for people: ISO 8601. */
  readonly at: string;
  readonly command: readonly string[];
  /** `nginx 1.22.1`, `embedded`; `none` when the load goes straight to a copy. */
  readonly router: string;
  readonly machine: { readonly node: string; readonly platform: string; readonly cores: number };
  readonly parameters: Readonly<Record<string, string | number | boolean | null>>;
}

/** Where in the life of a request its failure stands. */
export type Stage = "connect" | "write" | "wait" | "body";

/** One request, written when its fate is known. */
export interface RequestRecord {
  readonly kind: "request";
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** When it should have been sent; latency counts from here. */
  readonly intendedMs: RunMs;
  /** When it was really dispatched. `dispatchedMs - intendedMs` is the dispatch lag. */
  readonly dispatchedMs: RunMs;
  /** On a reused connection the same as `dispatchedMs`. */
  readonly connectedMs: RunMs | null;
  readonly writtenMs: RunMs | null;
  readonly firstByteMs: RunMs | null;
  readonly endedMs: RunMs;
  /** `answered`: a whole response came, whatever its status. `failed`: it did not. */
  readonly fate: "answered" | "failed";
  readonly status: number | null;
  /** Where it failed; null when answered. */
  readonly stage: Stage | null;
  /** The error code (`ECONNREFUSED`, `ECONNRESET`, `TIMEOUT`, `EOF` for an early clean end, `PARSE`); null when answered. */
  readonly error: string | null;
  readonly connection: {
    readonly id: number;
    /** How many requests it carried before this one. */
    readonly reuse: number;
    /** Its age at dispatch. */
    readonly ageMs: number;
    readonly closedFirst: "client" | "server" | null;
  };
  /** Body bytes promised by Content-Length (null when chunked or close-delimited) and received. */
  readonly bytes: { readonly promised: number | null; readonly got: number };
  /** What the answer said of who made it: the header `x-lastcall-copy`, else the `pid` of a JSON body. */
  readonly copy: string | null;
  /**
   * The answer's header `x-lastcall-upstream`, in which a router of the lab tells what it tried, also on its own 502:
   * `ADDRESSES|STATUSES|CONNECT TIMES|RESPONSE TIMES`, each a list with `, ` between the tries and `-` for what did not
   * come to be. It is nginx's `"$upstream_addr|$upstream_status|$upstream_connect_time|$upstream_response_time"`.
   */
  readonly upstream: string | null;
}

/** Something that the lab did or saw at a copy, the router or itself. */
export interface EventRecord {
  readonly kind: "event";
  readonly atMs: RunMs;
  readonly source: "lab" | "target" | "router";
  /** The copy's name (`A`, `B`, ...; a replacement is `A2`), or null. */
  readonly copy: string | null;
  readonly event:
    | "load-started"
    | "load-ended"
    | "started"
    | "ready"
    | "signal"
    | "not-ready"
    | "not-live"
    | "killed"
    | "exited"
    | "added"
    | "removed"
    | "reloaded"
    | "note";
  /**
   * Whatever the event has to say. The verdict reads: `started` {pid, port}, `signal` {signal, and program and below: what got
   * it and what that had started}, `not-ready` and `not-live` {seen}, `exited` {code, signal, and leftBehind: others of its group
   * were still there}, `added` and `removed` {port}.
   */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * A line of a router's error log, classified; a witness, never the truth. It is joined with a request by the id in its
 * text where the request's path holds it, else by time.
 */
export interface RouterLogRecord {
  readonly kind: "router-log";
  readonly atMs: RunMs;
  /** A short stable class: `connect-refused`, `upstream-closed`, `reset`, `timeout`, `other`. */
  readonly class: string;
  readonly text: string;
}

/** A row that the service stored, read after the run: what was really executed. */
export interface ExecutedRecord {
  readonly kind: "executed";
  readonly id: string;
  readonly copy: string | null;
}

/** The last record of a run that came to its end. A ledger without it was interrupted. */
export interface EndRecord {
  readonly kind: "end";
  readonly atMs: RunMs;
  readonly reason: "finished" | "interrupted" | "failed";
  /** How many rows were read from the service's store; null when it was not read. Tells "no row" from "not asked". */
  readonly rows?: number | null;
}

export type LedgerRecord =
  | RunRecord
  | RequestRecord
  | EventRecord
  | RouterLogRecord
  | ExecutedRecord
  | EndRecord;
