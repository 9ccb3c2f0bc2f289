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
} from "../ledger/records.ts";
import { createWitnesses, type Witnesses } from "./arrivals.ts";
import { int32, type Column } from "./columns.ts";
import {
  countHttp2,
  countWebSocket,
  noHttp2,
  noWebSockets,
  type Http2Tally,
  type WebSocketTally,
} from "./protocol-tallies.ts";
import { RequestTable } from "./request-table.ts";
import type { Control, Trial } from "./reruns.ts";
import { createStore, type Store } from "./store.ts";
import { answeredAtMs, isStream, suspicion } from "./suspicion.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { Harm } from "./verdict.ts";
import { createVoices } from "./voices.ts";
import type { Speaker } from "./workers.ts";

/** A request that may be bad, by its row. */
export interface Suspect {
  readonly row: number;
  readonly harm: Harm;
}

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
  readonly voices: readonly RequestRecord[];
  /** Who answered by their own word: names of copies, pids of workers. */
  readonly speakers: Map<string, Speaker>;
  /** By status, or by stage and error. */
  readonly answers: Map<number | string, number>;
  readonly methods: {
    readonly get: { sent: number; failed: number };
    readonly post: { sent: number; failed: number };
  };
}

export interface Collector {
  readonly collection: Collection;
  add(record: LedgerRecord): void;
}

export function createCollector(): Collector {
  const voices = createVoices();
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
    voices: voices.requests,
    speakers: new Map(),
    answers: new Map(),
    methods: { get: { sent: 0, failed: 0 }, post: { sent: 0, failed: 0 } },
  };
  /** The answers name every copy that was tried; of other routers only their log does, which comes later. */
  let tellsTries = false;

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
      countHttp2((all.http2 ??= noHttp2()), request);
    }
    if (request.webSocket !== undefined) {
      countWebSocket((all.webSockets ??= noWebSockets()), request, request.webSocket);
    }
    const answeredMs = answeredAtMs(request);
    const latencyMs = answeredMs - request.intendedMs;
    if (answeredMs !== request.endedMs) {
      all.answeredAtMs.set(row, answeredMs);
    }
    all.voiceOfRow.push(voices.of(request));
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
