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
  /**
   * The error code (`ECONNREFUSED`, `ECONNRESET`, `TIMEOUT`, `EOF` for an early clean end, `PARSE`,
   * `DIGEST` for a whole body that is not the one its content-digest promises, `GAP` for a missing event in a stream; of WebSockets
   * `UNANSWERED`, `CLOSE_1011` and `NO_UPGRADE`; of HTTP/2 `REFUSED_STREAM` for a stream that was not worked on, `GOAWAY` for one
   * that was accepted and ended with its connection, `RST_INTERNAL_ERROR` and the like); null when answered.
   */
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
  /** The name of its template in the mix, where that has names. */
  readonly template?: string;
  /** Body bytes of an upload that had gone out when it ended. */
  readonly uploaded?: number;
  /** Server-sent events that came, where a stream of them was asked for. */
  readonly events?: number;
  /** What was said, where a WebSocket was asked for. One that comes back is a record of its own, with the id `ID-again1`, `ID-again2`, ... */
  readonly webSocket?: WebSocketTold;
  /** Absent: HTTP/1.1. */
  readonly protocol?: "h2";
}

export interface WebSocketTold {
  /** Messages that the client sent. */
  readonly sent: number;
  /** Of these, how many were answered. */
  readonly answered: number;
  /**
   * Of these, how many had no answer and had not been read, as far as the service has shown, when its close frame came: RFC 6455 lets it
   * leave them unread (section 5.5.1).
   */
  readonly crossed: number;
  /** Of the service's close frame, where that came before the client's; 1005 without a code; null when it did not come. */
  readonly closeCode: number | null;
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
  /** A short stable class: `connect-refused`, `upstream-closed`, `reset`, `timeout`, `no-upstream`, `cut-by-router`, `other`. */
  readonly class: string;
  readonly text: string;
}

/** A row that the service stored, read after the run: what was really executed. */
export interface ExecutedRecord {
  readonly kind: "executed";
  readonly id: string;
  readonly copy: string | null;
}

/**
 * What the router's access log says of one request, joined by the request's id. Written after the run, for the requests
 * that ended badly at the client, that the router tried more than once, or whose line says that something failed; the others
 * need none. A witness, never the truth: routers close connections without a line.
 */
export interface RouterRequestRecord {
  readonly kind: "router-request";
  readonly id: string;
  /** Null when the log has no line for it: the request never came to the router, or was lost there without a word (K03, K31). */
  readonly line: RouterLine | null;
}

export interface RouterLine {
  /** When the router was done with it. */
  readonly atMs: RunMs;
  /** What it answered; null when it gave no answer. */
  readonly status: number | null;
  /** Whom it tried, in order, as far as its log tells: HAProxy names the last one only. */
  readonly tries: readonly RouterTry[];
  /** How often it tried again. */
  readonly retries: number;
  /** How it ended in the router's own words (HAProxy's termination state: `SH--`); null where it has none. */
  readonly termination: string | null;
  /** As in `RouterLogRecord`; null when nothing failed. */
  readonly class: string | null;
  /** Body bytes that it sent to the client. */
  readonly bytes: number | null;
}

/** Null for what did not come to be or is not told. */
export interface RouterTry {
  readonly address: string;
  readonly status: number | null;
  readonly connectMs: number | null;
  readonly responseMs: number | null;
}

/**
 * One arrival of one request at a copy, as seen there: by the code of the lab inside the service (`import`) or by a recording
 * shim in front of it (`shim`). A request that came twice has two. Requests without an `x-request-id` have none.
 */
export interface WitnessRecord {
  readonly kind: "witness";
  readonly id: string;
  readonly copy: string;
  readonly by: "import" | "shim";
  readonly method: string;
  /** Its head had come. */
  readonly arrivedMs: RunMs;
  /** Its whole body had come too (work that needs the body could be done); null when that was not seen. */
  readonly bodyMs: RunMs | null;
  /** The service had made its whole answer (`import`: the handler called `end`; `shim`: its last byte came). */
  readonly answeredMs: RunMs | null;
  /** Of that answer, or of the head of one that was not made whole. */
  readonly status: number | null;
  /** Who ended the connection before the whole answer had gone out; null when nobody did, or the copy died without a word. */
  readonly closedFirst: "service" | "peer" | null;
  /** The shim came to a closed door: the copy did not listen any more, and nothing arrived at it. */
  readonly refused?: true;
}

/** The last record of a run that came to its end; only what reruns say may follow. A ledger without it was interrupted. */
export interface EndRecord {
  readonly kind: "end";
  readonly atMs: RunMs;
  readonly reason: "finished" | "interrupted" | "failed";
  /** How many rows were read from the service's store; null when it was not read. Tells "no row" from "not asked". */
  readonly rows?: number | null;
  /** How many arrivals the witness saw; null or absent when there was none. Tells "never arrived" from "nobody looked". */
  readonly arrivals?: number | null;
}

/** What the run's repetition with one factor changed says of it (`--explain`). */
export interface TrialRecord {
  readonly kind: "trial";
  readonly factor: string;
  /** Completes "vanishes with": `GET requests only`. */
  readonly words: string;
  /** Of the repetition; `invalid`: it proves nothing. */
  readonly outcome: "pass" | "fail" | "invalid";
  /** Bad requests of the run, and of its repetition. */
  readonly before: number;
  readonly after: number;
  /** The kinds of the run that its repetition does not have, by their slugs. */
  readonly vanished: readonly string[];
  /** Those of them for which this factor is the decisive question, and whose absence is no luck. */
  readonly proves: readonly string[];
  /** Of the repetition, with its own ledger. */
  readonly folder: string;
}

/** What a repetition that must show losses says of the lab (`--controls`). */
export interface ControlRecord {
  readonly kind: "control";
  readonly name: "hard-kill" | "no-delay";
  readonly words: string;
  readonly outcome: "pass" | "fail" | "invalid";
  /** Losses that it showed; a control that shows none is a lab that is blind. */
  readonly bad: number;
  readonly sent: number;
  readonly folder: string;
}

export type LedgerRecord =
  | RunRecord
  | RequestRecord
  | EventRecord
  | RouterLogRecord
  | RouterRequestRecord
  | WitnessRecord
  | ExecutedRecord
  | EndRecord
  | TrialRecord
  | ControlRecord;
