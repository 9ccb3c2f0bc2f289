/**
 * How finished requests cross from the engine's thread: one row of numbers each, whose memory is handed over and not
 * copied, and a small table of the texts. What follows from the plan (id, method, path) is recomputed on the other side.
 */

import type { RequestRecord, Stage, WebSocketTold } from "../ledger/records.ts";
import type { Exchange } from "./exchange.ts";
import type { Mix } from "./mix.ts";

export interface Batch {
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly count: number;
  readonly texts: readonly string[];
  /** By row: what few requests have. */
  readonly talks: ReadonlyMap<number, Talk>;
}

interface Talk {
  readonly webSocket: WebSocketTold;
  readonly again: number;
}

/** Numbers for each request. */
const WIDTH = 20;
const STAGES: readonly (Stage | null)[] = [null, "connect", "write", "wait", "body"];
const CLOSERS: readonly RequestRecord["connection"]["closedFirst"][] = [null, "client", "server"];

export class BatchWriter {
  readonly #capacity: number;
  #numbers: Float64Array<ArrayBuffer>;
  #texts = new Map<string, number>();
  #talks = new Map<number, Talk>();
  #count = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#numbers = new Float64Array(capacity * WIDTH);
  }

  get count(): number {
    return this.#count;
  }

  get full(): boolean {
    return this.#count === this.#capacity;
  }

  #text(text: string | null): number {
    if (text === null) {
      return -1;
    }
    const known = this.#texts.get(text);
    if (known !== undefined) {
      return known;
    }
    this.#texts.set(text, this.#texts.size);
    return this.#texts.size - 1;
  }

  add(exchange: Exchange): void {
    const row = this.#numbers;
    let at = this.#count * WIDTH;
    row[at++] = exchange.n;
    row[at++] = exchange.intendedMs;
    row[at++] = exchange.dispatchedMs;
    row[at++] = exchange.connectedMs;
    row[at++] = exchange.writtenMs;
    row[at++] = exchange.firstByteMs;
    row[at++] = exchange.endedMs;
    row[at++] = exchange.status ?? Number.NaN;
    row[at++] = STAGES.indexOf(exchange.stage);
    row[at++] = this.#text(exchange.error);
    row[at++] = exchange.connectionId;
    row[at++] = exchange.reuse;
    row[at++] = exchange.ageMs;
    row[at++] = CLOSERS.indexOf(exchange.closedFirst);
    row[at++] = exchange.promised ?? Number.NaN;
    row[at++] = exchange.got;
    row[at++] = this.#text(exchange.copy);
    row[at++] = this.#text(exchange.upstream);
    row[at++] = exchange.uploaded;
    row[at++] = exchange.events;
    if (exchange.webSocket !== null) {
      this.#talks.set(this.#count, { webSocket: exchange.webSocket, again: exchange.again });
    }
    this.#count += 1;
  }

  /** What has been added so far; the writer starts anew. The numbers may be transferred. */
  take(): Batch {
    const texts = [...this.#texts.keys()];
    const batch = { numbers: this.#numbers, count: this.#count, texts, talks: this.#talks };
    this.#numbers = new Float64Array(this.#capacity * WIDTH);
    this.#texts = new Map();
    this.#talks = new Map();
    this.#count = 0;
    return batch;
  }
}

/** Times are kept to the microsecond: more would only make the ledger longer. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function optional(value: number): number | null {
  return Number.isNaN(value) ? null : rounded(value);
}

function readRow(batch: Batch, index: number, mix: Mix): RequestRecord {
  const { numbers, texts } = batch;
  const start = index * WIDTH;
  const number = (column: number): number => numbers[start + column] ?? Number.NaN;
  const text = (column: number): string | null => texts[number(column)] ?? null;
  const talk = batch.talks.get(index);
  const { id, method, path, name, protocol } = mix.at(number(0), talk?.again);
  const uploaded = optional(number(18));
  const events = optional(number(19));
  const stage = STAGES[number(8)] ?? null;
  return {
    kind: "request",
    id,
    method,
    path,
    intendedMs: rounded(number(1)),
    dispatchedMs: rounded(number(2)),
    connectedMs: optional(number(3)),
    writtenMs: optional(number(4)),
    firstByteMs: optional(number(5)),
    endedMs: rounded(number(6)),
    fate: stage === null ? "answered" : "failed",
    status: optional(number(7)),
    stage,
    error: text(9),
    connection: {
      id: number(10),
      reuse: number(11),
      ageMs: rounded(number(12)),
      closedFirst: CLOSERS[number(13)] ?? null,
    },
    bytes: { promised: optional(number(14)), got: number(15) },
    copy: text(16),
    upstream: text(17),
    ...(name === null ? {} : { template: name }),
    ...(uploaded === null ? {} : { uploaded }),
    ...(events === null ? {} : { events }),
    ...(talk === undefined ? {} : { webSocket: talk.webSocket }),
    ...(protocol === null ? {} : { protocol }),
  };
}

export function readBatch(batch: Batch, mix: Mix): RequestRecord[] {
  const records: RequestRecord[] = [];
  for (let index = 0; index < batch.count; index += 1) {
    records.push(readRow(batch, index, mix));
  }
  return records;
}
