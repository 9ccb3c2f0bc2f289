/**
 * The verdict of one run: a plain object that can be written as JSON, printed, and compared with another. `judge.ts`
 * makes it from the ledger; whoever renders it decides nothing. Longer than most files: one published format, and what each
 * of its fields means.
 */

import type { ControlRecord, EventRecord, RequestRecord, RunMs, TrialRecord } from "../ledger/records.ts";

/**
 * `pass`: nothing was lost, duplicated, truncated, masked or slowed by the service, and no copy had to be killed or ended by
 * itself. `fail`: something of this happened. `invalid`: the run proves nothing, in either direction; `invalid` says why.
 */
export type Outcome = "pass" | "fail" | "invalid";

/** What a bad request suffered. Exactly one for each, the first that holds in this order. */
export type Harm =
  /** The answer began and its body was cut. */
  | "truncated"
  /** No whole answer, or one that says no (status 400 and above). */
  | "lost"
  /** Answered well, and executed more than once. */
  | "duplicated"
  /** A POST acknowledged with a status of 2xx, and not in the store. */
  | "unstored"
  /** Answered well, but only because the router tried again: without its retries it would have been lost. */
  | "masked"
  /** Answered well, and too late by the slow rule. */
  | "slowed";

/**
 * Who has to change something. `router`: dropped by the router at its own reload (K31); shown, and no failure of the
 * service. `lab`: our own machine or router failed; such a run is invalid.
 */
export type ChargedTo = "service" | "router" | "lab";

export interface MethodTally {
  readonly sent: number;
  /** Bad by `lost` or `truncated`: the classic table's "failed". */
  readonly failed: number;
}

/** Milliseconds; null where there was nothing to measure. */
export interface Quantiles {
  readonly p50: number | null;
  readonly p99: number | null;
  readonly p999: number | null;
  readonly max: number | null;
}

/**
 * How sure the verdict is of a cause. `proven`: a second run with one factor changed made it vanish (`--explain`). `certain`:
 * witnesses that do not know of each other agree (the client and the router's log, the store or the copy itself). `likely`: the
 * client's view and the timeline agree, and nobody else was asked. `possible`: only the shape in time speaks for it.
 */
export type Confidence = "proven" | "certain" | "likely" | "possible";

/** One bad request with its cause. */
export interface BadRequest {
  readonly request: RequestRecord;
  readonly harm: Harm;
  /** Key into `kinds`: the slug of its kind. */
  readonly kind: string;
  /** The copy to which it is attributed, by its answer, by the router's words, or by being the one that was leaving. */
  readonly copy: string | null;
  /** Index into `restarts`; null when it falls into none. */
  readonly restart: number | null;
  /** From the stop signal of that restart to the dispatch of the request; negative when it was in flight at the signal. */
  readonly sinceSignalMs: number | null;
  /** How often the store has its id; null when the store was not read or the request is none that stores. */
  readonly stored: number | null;
  /**
   * How often it came to a service that worked on it, as the witness or the store says: 0 is lost before work, 1 lost after
   * work, 2 executed twice. Null when nobody can tell.
   */
  readonly worked: number | null;
  readonly confidence: Confidence;
  /** What shows the cause, one sentence with the values seen. */
  readonly evidence: string;
}

/**
 * All bad requests of one kind, or a finding without a loss, whose `count` is 0. The sum of `count` over `kinds` is
 * `requests.bad`.
 */
export interface KindTally {
  /** `K01` to `K44` are the failure catalogue; from `K45` on stands what it does not list. Stable. */
  readonly id: string;
  /** `closed-door`, `in-flight-cut`, ...: stable. Its page is docs/kinds/ID-SLUG.md. */
  readonly slug: string;
  readonly title: string;
  readonly chargedTo: ChargedTo;
  readonly count: number;
  /** Whether it makes the verdict fail: bad requests that are charged to the service, or a finding that must not stand. */
  readonly fails: boolean;
  /** The least that holds for all of them. */
  readonly confidence: Confidence;
  /** What shows it, one sentence: that of the first of them. */
  readonly evidence: string;
  /** What to change, with the numbers that were measured. */
  readonly advice: string;
  readonly get: number;
  readonly post: number;
  /** Dispatch of the first and the last of them; of a finding the moment at which it shows. */
  readonly firstMs: RunMs;
  readonly lastMs: RunMs;
  /** Count for each copy to which they are attributed; `?` where none is. */
  readonly copies: Readonly<Record<string, number>>;
  /** The restarts into which they fall, as indices into `restarts`; one that is in none of them counts nowhere. */
  readonly restarts: readonly number[];
  /** Why it happens, one sentence. */
  readonly why: string;
  /** The first three; empty for a finding. */
  readonly examples: readonly BadRequest[];
}

/** A kind that this run could not have shown. It is not guessed. */
export interface NotLookedFor {
  readonly id: string;
  readonly slug: string;
  /** What the run would have to have, in words. */
  readonly needs: string;
}

/** One copy that was told to stop, and the one that took its place. */
export interface Restart {
  readonly copy: string;
  /** `SIGTERM`, or `SIGKILL` in a control run. */
  readonly signal: string;
  /** t0. */
  readonly signalMs: RunMs;
  /** When the router stopped sending to it, as told by the lab; null when it was never removed. */
  readonly removedMs: RunMs | null;
  /** When the lab lost patience and sent SIGKILL; null when it need not. */
  readonly killedMs: RunMs | null;
  readonly exitMs: RunMs | null;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly replacement: {
    readonly copy: string;
    readonly startedMs: RunMs;
    readonly readyMs: RunMs | null;
    readonly addedMs: RunMs | null;
  } | null;
  readonly exposure: Exposure;
  /** Bad requests that fall into this restart, whoever is charged. */
  readonly bad: number;
}

/** How many requests put the stop to the test. Only those that say which copy answered can be counted. */
export interface Exposure {
  /** Sent to the leaving copy between its stop signal and its exit, and how many of them were bad. */
  readonly sent: number;
  readonly sentBad: number;
  /** In flight at the leaving copy when the signal came, and how many of them were bad. */
  readonly inFlight: number;
  readonly inFlightBad: number;
}

/** "k of n" with the upper end of its one-sided 95 % interval: 3/n when k is 0, Clopper-Pearson otherwise. */
export interface Bound {
  readonly bad: number;
  readonly of: number;
  /** A share between 0 and 1; null when `of` is 0: nothing is known. */
  readonly upper95: number | null;
}

/** What the store says, joined with what the clients were told. */
export interface StoreVerdict {
  /** False when no row was read: every other field is then empty. */
  readonly checked: boolean;
  /** POSTs answered with a status of 2xx (201 by the orders service: the classic column `201s`). */
  readonly acknowledged: number;
  /** Rows that belong to this run, duplicates included. */
  readonly rows: number;
  /** Every acknowledged POST has exactly one row, and every row an acknowledged POST. */
  readonly equal: boolean;
  /** Ids acknowledged and not stored: the worst kind. */
  readonly unstored: readonly string[];
  /** Ids stored whose client never heard so: in doubt. A client that asks again under the same key is safe. */
  readonly inDoubt: readonly string[];
  readonly duplicated: readonly { readonly id: string; readonly times: number }[];
  /** Rows under ids that this run never sent. */
  readonly foreign: number;
}

/** What the witness saw, joined with what the clients got. */
export interface WitnessVerdict {
  /** How many arrivals it saw. */
  readonly arrivals: number;
  /** Lost or truncated requests that never came whole to a copy, */
  readonly lostBeforeWork: number;
  /** that came, and to which no good answer was made, */
  readonly lostDuringWork: number;
  /** and whose good answer was made and did not come through. */
  readonly lostAfterWork: number;
  /** How many requests came whole to a copy more than once, be it that only one of them was answered. */
  readonly begunTwice: number;
  /** Ids of POSTs that were answered well more than once. */
  readonly executedTwice: readonly string[];
}

/** What became of WebSockets and of what was said over them. */
export interface WebSocketVerdict {
  /** How often one was asked for, comings back included, and how often it stood. */
  readonly asked: number;
  readonly opened: number;
  /** Clients that were told to go in good order and asked for another one. */
  readonly cameBack: number;
  /** Ended without a close frame, which a browser calls 1006. */
  readonly cut: number;
  /** Close frames of the service that came before the client's, by code. */
  readonly closeCodes: Readonly<Record<string, number>>;
  readonly messages: number;
  readonly answered: number;
  /** Not answered, and not read when the close frame was sent: the client has to say them again. */
  readonly crossed: number;
  /** Not answered though they had been read. */
  readonly unanswered: number;
}

/** Requests by HTTP/2, which stand among all requests too. */
export interface Http2Verdict {
  readonly sent: number;
  readonly failed: number;
  /** Of the failed: not worked on, and safe to send again (above the last stream id of a GOAWAY, or REFUSED_STREAM). */
  readonly refused: number;
}

/** One number that was measured and the setting it gives. Null where the run could not show it. */
export interface Advice {
  /** The last request that still reached the leaving copy, or failed for want of it, after its signal: the router's lag. */
  readonly routerLagMs: number | null;
  /** The longest good request from dispatch to end. */
  readonly longestRequestMs: number | null;
  /** From the end of the last request at a leaving copy (or its signal) to its exit. */
  readonly teardownMs: number | null;
  /** From the start of a copy to its readiness. */
  readonly startMs: number | null;
  /** Settings with a margin, ready to paste; a field is null where its measure is. */
  readonly settings: {
    readonly drainDelayMs: number | null;
    readonly gracefulTimeoutMs: number | null;
    readonly teardownTimeoutMs: number | null;
    readonly gracePeriodMs: number | null;
  };
  /** What to do, in the order of importance; empty when all is well. */
  readonly steps: readonly string[];
}

export interface Verdict {
  readonly schema: "lastcall.verdict/1";
  readonly outcome: Outcome;
  /** The one line to print first: `0 of 307 requests lost, 0 slow, in 2 restarts`. */
  readonly headline: string;
  /** Why the run proves nothing; empty when it is valid. */
  readonly invalid: readonly string[];
  readonly run: {
    readonly scenario: string;
    readonly seed: number;
    readonly at: string;
    readonly router: string;
    readonly command: readonly string[];
    readonly parameters: Readonly<Record<string, string | number | boolean | null>>;
    /** How the ledger ends; null when its last record is missing. */
    readonly ended: "finished" | "interrupted" | "failed" | null;
    readonly durationMs: RunMs;
  };
  readonly requests: {
    readonly sent: number;
    /** Answered well: whole, below status 400, once, in time. `sent = good + bad`. */
    readonly good: number;
    readonly bad: number;
    readonly get: MethodTally;
    readonly post: MethodTally;
    readonly byHarm: Readonly<Record<Harm, number>>;
    readonly byCharge: Readonly<Record<ChargedTo, number>>;
    /** Answers by status (`200`), failures by stage and error (`connect ECONNREFUSED`). */
    readonly byAnswer: Readonly<Record<string, number>>;
  };
  readonly latency: Quantiles & {
    /** The classic table's column: good answers later than 1.5 s. */
    readonly slowAbsolute: number;
    readonly slowAbsoluteLimitMs: number;
    /** The verdict's own rule (R1): p99.9 of the baseline + 1 s. The baseline is what ended before the first stop signal. */
    readonly baselineP999: number | null;
    readonly slowLimitMs: number;
  };
  /** `dispatchedMs - intendedMs`: the load engine's own delay. */
  readonly dispatchLag: Quantiles & { readonly limitP99Ms: number };
  /** Most frequent first; findings without a loss at the end. */
  readonly kinds: readonly KindTally[];
  readonly notLookedFor: readonly NotLookedFor[];
  readonly store: StoreVerdict;
  /** Null: nobody saw what came to the copies (`--witness`). */
  readonly witness: WitnessVerdict | null;
  /** Null: the load had none. */
  readonly webSockets: WebSocketVerdict | null;
  readonly http2: Http2Verdict | null;
  readonly restarts: readonly Restart[];
  /** The sum over the restarts, and the answers that did not say which copy made them. */
  readonly exposure: Exposure & { readonly unattributed: number };
  readonly bounds: {
    /** Restarts with at least one bad request that is charged to the service. */
    readonly perRestart: Bound;
    /** Bad requests among those sent to a leaving copy between its signal and its exit. */
    readonly perExposed: Bound;
  };
  readonly advice: Advice;
  /** The router's error log, lines by class: a witness. */
  readonly routerLog: Readonly<Record<string, number>>;
  /** What happened when, in order: signals, exits, additions, removals. */
  readonly timeline: readonly EventRecord[];
  /** Reruns with one factor changed at a time (`--explain`). */
  readonly trials: readonly Omit<TrialRecord, "kind">[];
  /** Reruns that must show losses (`--controls`). */
  readonly controls: readonly Omit<ControlRecord, "kind">[];
}
