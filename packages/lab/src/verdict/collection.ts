/**
 * What one pass over the records keeps: all requests as rows, and a list of those that may be bad. Nothing is decided here,
 * so the order of the records does not matter.
 */

import type {
  EndRecord,
  EventRecord,
  LedgerRecord,
  RequestRecord,
  RouterLogRecord,
  RunRecord,
  WebSocketTold,
} from "../ledger/records.ts";
import { triedPorts } from "./attribution.ts";
import { createWitnesses, type Witnesses } from "./arrivals.ts";
import { int32, type Column } from "./columns.ts";
import { RequestTable } from "./request-table.ts";
import type { Control, Trial } from "./reruns.ts";
import { routerConnectMs } from "./router-times.ts";
import { createStore, type Store } from "./store.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { Harm, Http2Verdict, WebSocketVerdict } from "./verdict.ts";
import type { Speaker } from "./workers.ts";

/** A request that may be bad, by its row. `slowed` means that it may be: the limit is known at the end. */
export interface Suspect {
  readonly row: number;
  readonly harm: Harm;
}

type Counting<T> = { -readonly [Key in keyof T]: T[Key] };
type Http2Tally = Counting<Http2Verdict>;
type WebSocketTally = Counting<Omit<WebSocketVerdict, "closeCodes">> & {
  readonly closeCodes: Record<string, number>;
};

export interface Collection {
  run: RunRecord | null;
  end: EndRecord | null;
  /** The latest time in any record. */
  lastMs: number;
  /** Of the answered requests, from dispatch to end. */
  longestMs: number | null;
  quickestMs: number | null;
  slowAbsolute: number;
  readonly events: EventRecord[];
  readonly log: RouterLogRecord[];
  readonly trials: Trial[];
  readonly controls: Control[];
  readonly suspects: Suspect[];
  readonly store: Store;
  readonly witnesses: Witnesses;
  /** Somebody watched the copies, be it that nothing came. */
  witnessed: boolean;
  /** Streams of events or WebSockets were asked for. */
  streams: boolean;
  /** Counts of the requests by HTTP/2; null: there was none. */
  http2: Http2Tally | null;
  /** Null: none was asked for. */
  webSockets: WebSocketTally | null;
  readonly requests: RequestTable;
  /** Of the rows where that was not at the end; see `answeredAtMs`. */
  readonly answeredAtMs: Map<number, number>;
  /** Who answered, as the answer says: for each row an index into `voices`, or -1. */
  readonly voiceOfRow: Column;
  /** One request for each voice: whom it names is known when all copies are. */
  readonly voices: RequestRecord[];
  /** Who answered by their own word: names of copies, pids of workers. */
  readonly speakers: Map<string, Speaker>;
  /** By status, or by stage and error. */
  readonly answers: Map<number | string, number>;
  readonly methods: {
    readonly get: { sent: number; failed: number };
    readonly post: { sent: number; failed: number };
  };
}

function suspicion(request: RequestRecord): Harm | null {
  if (request.fate === "failed") {
    return request.stage === "body" ? "truncated" : "lost";
  }
  if ((request.status ?? 0) >= THRESHOLDS.failedFromStatus) {
    return "lost";
  }
  if (request.upstream?.includes(", ") === true && triedPorts(request.upstream).length > 1) {
    return "masked";
  }
  // The slow limit is some baseline and this, so no slow request is missed.
  const late = answeredAtMs(request) - request.intendedMs > THRESHOLDS.slowOverBaselineMs;
  return late || isConnectRetry(request) ? "slowed" : null;
}

/**
 * When the service had answered, for the question whether it was slow. A stream of events is as quick as its first byte, and the
 * time that an upload took to go out was the client's.
 */
export function answeredAtMs(request: RequestRecord): number {
  const { uploaded, connectedMs, writtenMs, firstByteMs, endedMs } = request;
  if (isStream(request)) {
    return firstByteMs ?? endedMs;
  }
  return uploaded === undefined || connectedMs === null || writtenMs === null
    ? endedMs
    : endedMs - (writtenMs - connectedMs);
}

/** A connection, the client's or the router's, that was made at the second try. */
export function isConnectRetry(request: RequestRecord): boolean {
  const { connectedMs, dispatchedMs, endedMs } = request;
  const limitMs = THRESHOLDS.connectRetryMs;
  return (
    (connectedMs ?? endedMs) - dispatchedMs >= limitMs ||
    // Asked of those only that were slow enough for it: they are few.
    (endedMs - dispatchedMs >= limitMs && routerConnectMs(request) >= limitMs)
  );
}

/** Something that is open for as long as the client likes. */
export function isStream({ events, webSocket }: RequestRecord): boolean {
  return events !== undefined || webSocket !== undefined;
}

function countHttp2(tally: Http2Tally, { fate, error }: RequestRecord): void {
  tally.sent += 1;
  tally.failed += fate === "failed" ? 1 : 0;
  tally.refused += error === "REFUSED_STREAM" ? 1 : 0;
}

function noWebSockets(): WebSocketTally {
  return {
    asked: 0,
    opened: 0,
    cameBack: 0,
    cut: 0,
    closeCodes: {},
    messages: 0,
    answered: 0,
    crossed: 0,
    unanswered: 0,
  };
}

function countWebSocket(
  tally: WebSocketTally,
  { id, error, status }: RequestRecord,
  told: WebSocketTold,
): void {
  tally.asked += 1;
  tally.opened += status === 101 ? 1 : 0;
  // `r1-000042-again1`: the client of r1-000042.
  tally.cameBack += /-again\d+$/.test(id) ? 1 : 0;
  tally.cut += status === 101 && error !== null && told.closeCode === null && error !== "UNANSWERED" ? 1 : 0;
  if (told.closeCode !== null) {
    tally.closeCodes[told.closeCode] = (tally.closeCodes[told.closeCode] ?? 0) + 1;
  }
  tally.messages += told.sent;
  tally.answered += told.answered;
  tally.crossed += told.crossed;
  tally.unanswered += told.sent - told.answered - told.crossed;
}

/** Bounds of the parts of a voice's key; their product is a safe integer. */
const NAMES = 2 ** 15;
const SECONDS = 2 ** 22;

function addressesIn(upstream: string): string {
  const end = upstream.indexOf("|");
  return end < 0 ? upstream : upstream.slice(0, end);
}

/** A number from 1 on for each text. */
function numbering(): (text: string) => number {
  const numbers = new Map<string, number>();
  return (text) => {
    const known = numbers.get(text);
    if (known !== undefined) {
      return known;
    }
    numbers.set(text, numbers.size + 1);
    return numbers.size;
  };
}

export interface Collector {
  readonly collection: Collection;
  add(record: LedgerRecord): void;
}

export function createCollector(): Collector {
  const all: Collection = {
    run: null,
    end: null,
    lastMs: 0,
    longestMs: null,
    quickestMs: null,
    slowAbsolute: 0,
    events: [],
    log: [],
    trials: [],
    controls: [],
    suspects: [],
    store: createStore(),
    witnesses: createWitnesses(),
    witnessed: false,
    streams: false,
    http2: null,
    webSockets: null,
    requests: new RequestTable(),
    answeredAtMs: new Map(),
    voiceOfRow: int32(),
    voices: [],
    speakers: new Map(),
    answers: new Map(),
    methods: { get: { sent: 0, failed: 0 }, post: { sent: 0, failed: 0 } },
  };
  const numberOf = numbering();
  const voiceIndex = new Map<number, number>();
  /** The answers name every copy that was tried; of other routers only their log does, which comes later. */
  let tellsTries = false;

  /**
   * The same answerer has the same key. Both words count: a pid may be that of a worker process, which no event names, and a
   * port may pass from one copy to another, so with ports a key lasts a second.
   */
  function voiceOf(request: RequestRecord): number {
    const { copy, upstream, endedMs } = request;
    if (copy === null && upstream === null) {
      return -1;
    }
    const who = copy === null ? 0 : numberOf(copy);
    const where = upstream === null ? 0 : numberOf(addressesIn(upstream));
    const second = upstream === null ? 0 : Math.floor(endedMs / 1000) % SECONDS;
    const key = (who * NAMES + where) * SECONDS + second;
    const known = voiceIndex.get(key);
    if (known !== undefined) {
      return known;
    }
    voiceIndex.set(key, all.voices.length);
    return all.voices.push(request) - 1;
  }

  function hear(request: RequestRecord): void {
    const { copy, endedMs } = request;
    const known = copy === null ? undefined : all.speakers.get(copy);
    if (known !== undefined) {
      known.firstMs = Math.min(known.firstMs, endedMs);
      known.lastMs = Math.max(known.lastMs, endedMs);
    } else if (copy !== null) {
      all.speakers.set(copy, { first: request, firstMs: endedMs, lastMs: endedMs });
    }
  }

  function addRequest(request: RequestRecord): void {
    const harm = suspicion(request);
    const posted = request.method !== "GET";
    // What was executed is known at the end only: any POST may turn out to be bad.
    const row = all.requests.add(request, harm !== null || posted || !tellsTries);
    all.streams ||= isStream(request);
    if (request.protocol === "h2") {
      countHttp2((all.http2 ??= { sent: 0, failed: 0, refused: 0 }), request);
    }
    if (request.webSocket !== undefined) {
      countWebSocket((all.webSockets ??= noWebSockets()), request, request.webSocket);
    }
    const answeredMs = answeredAtMs(request);
    const latencyMs = answeredMs - request.intendedMs;
    if (answeredMs !== request.endedMs) {
      all.answeredAtMs.set(row, answeredMs);
    }
    all.voiceOfRow.push(voiceOf(request));
    hear(request);
    all.lastMs = Math.max(all.lastMs, request.endedMs);
    const answer = request.fate === "answered" ? (request.status ?? 0) : `${request.stage} ${request.error}`;
    all.answers.set(answer, (all.answers.get(answer) ?? 0) + 1);
    const failed = harm === "lost" || harm === "truncated";
    const method = posted ? all.methods.post : all.methods.get;
    method.sent += 1;
    if (posted) {
      all.store.posted(request, row);
    }
    if (harm !== null) {
      all.suspects.push({ row, harm });
    }
    if (failed) {
      method.failed += 1;
    } else {
      const tookMs = (isStream(request) ? answeredMs : request.endedMs) - request.dispatchedMs;
      all.longestMs = Math.max(all.longestMs ?? 0, tookMs);
      all.quickestMs = Math.min(all.quickestMs ?? tookMs, tookMs);
      all.slowAbsolute += latencyMs > THRESHOLDS.slowAbsoluteMs ? 1 : 0;
    }
  }

  return {
    collection: all,
    add: (record) => {
      switch (record.kind) {
        case "run":
          all.run = record;
          tellsTries = /^(?:embedded|nginx|none)\b/.test(record.router);
          return;
        case "request":
          addRequest(record);
          return;
        case "event":
          all.events.push(record);
          all.lastMs = Math.max(all.lastMs, record.atMs);
          return;
        case "router-log":
          all.log.push(record);
          return;
        case "router-request":
          all.witnesses.logged(record);
          return;
        case "witness":
          all.witnesses.saw(record);
          all.witnessed = true;
          return;
        case "executed":
          all.store.executed(record);
          return;
        case "end":
          all.end = record;
          all.lastMs = Math.max(all.lastMs, record.atMs);
          all.witnessed ||= typeof record.arrivals === "number";
          if (record.rows !== undefined && record.rows !== null) {
            all.store.wasRead();
          }
          return;
        case "trial": {
          const { kind: _, ...trial } = record;
          all.trials.push(trial);
          return;
        }
        case "control": {
          const { kind: _, ...control } = record;
          all.controls.push(control);
        }
      }
    },
  };
}
