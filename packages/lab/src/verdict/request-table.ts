/**
 * All requests of a run as rows of numbers, because a million objects would fill the memory: 140 bytes each instead of 600.
 * Texts are kept once, and what is unique only by its number (an id, a path that holds it) is kept as that number. Any record
 * can be had back whole.
 */

import type { RequestRecord } from "../ledger/records.ts";

/** Columns that are asked for by name; the others only serve to rebuild a record. */
export const COLUMN: {
  readonly intendedMs: 0;
  readonly dispatchedMs: 1;
  readonly endedMs: 2;
} = { intendedMs: 0, dispatchedMs: 1, endedMs: 2 };

const NUMBERS = 13;
const TEXTS = 9;
const BLOCK_ROWS = 1024;

/** Stands for the id in a path. No path holds it: it cannot be sent in one. */
const ID = "\u0000";
/** Before a path that must not be taken for a template. */
const AS_IT_IS = "\u0001";
/** The load engine's ids: `r7-000042`. Any other is kept as a text whole. */
const NUMBERED = /^(.*-)(\d{6}|[1-9]\d{6,12})$/;

function templateOf(path: string, id: string): string {
  if (id === "" || path.includes(ID) || path.startsWith(AS_IT_IS)) {
    return AS_IT_IS + path;
  }
  return path.replaceAll(id, ID);
}

function pathOf(template: string, id: string): string {
  return template.startsWith(AS_IT_IS) ? template.slice(1) : template.replaceAll(ID, () => id);
}

export class RequestTable {
  readonly #numbers: Float64Array[] = [];
  readonly #textIndices: Int32Array[] = [];
  readonly #texts: (string | null)[] = [];
  readonly #textIndex = new Map<string | null, number>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The row of the record. */
  add(record: RequestRecord): number {
    const row = this.#length;
    this.#length += 1;
    const inBlock = row % BLOCK_ROWS;
    if (inBlock === 0) {
      this.#numbers.push(new Float64Array(BLOCK_ROWS * NUMBERS));
      this.#textIndices.push(new Int32Array(BLOCK_ROWS * TEXTS));
    }
    const { id, connection, bytes } = record;
    const numbered = NUMBERED.exec(id);
    const numbers = this.#numbers.at(-1) ?? new Float64Array(0);
    let at = inBlock * NUMBERS;
    numbers[at++] = record.intendedMs;
    numbers[at++] = record.dispatchedMs;
    numbers[at++] = record.endedMs;
    numbers[at++] = record.connectedMs ?? Number.NaN;
    numbers[at++] = record.writtenMs ?? Number.NaN;
    numbers[at++] = record.firstByteMs ?? Number.NaN;
    numbers[at++] = record.status ?? Number.NaN;
    numbers[at++] = connection.id;
    numbers[at++] = connection.reuse;
    numbers[at++] = connection.ageMs;
    numbers[at++] = bytes.promised ?? Number.NaN;
    numbers[at++] = bytes.got;
    numbers[at++] = numbered === null ? Number.NaN : Number(numbered[2]);
    const texts = this.#textIndices.at(-1) ?? new Int32Array(0);
    at = inBlock * TEXTS;
    texts[at++] = this.#text(numbered?.[1] ?? id);
    texts[at++] = this.#text(record.method);
    texts[at++] = this.#text(templateOf(record.path, id));
    texts[at++] = this.#text(record.fate);
    texts[at++] = this.#text(record.stage);
    texts[at++] = this.#text(record.error);
    texts[at++] = this.#text(connection.closedFirst);
    texts[at++] = this.#text(record.copy);
    texts[at++] = this.#text(record.upstream);
    return row;
  }

  #text(text: string | null): number {
    const known = this.#textIndex.get(text);
    if (known !== undefined) {
      return known;
    }
    const index = this.#texts.push(text) - 1;
    this.#textIndex.set(text, index);
    return index;
  }

  value(row: number, column: number): number {
    return this.#numbers[Math.floor(row / BLOCK_ROWS)]?.[(row % BLOCK_ROWS) * NUMBERS + column] ?? Number.NaN;
  }

  /** One number for each row, in a new array. */
  map(toNumber: (row: number) => number): Float64Array {
    const values = new Float64Array(this.length);
    for (let row = 0; row < values.length; row += 1) {
      values[row] = toNumber(row);
    }
    return values;
  }

  record(row: number): RequestRecord {
    const number = (column: number): number => this.value(row, column);
    const optional = (column: number): number | null => {
      const value = this.value(row, column);
      return Number.isNaN(value) ? null : value;
    };
    const block = this.#textIndices[Math.floor(row / BLOCK_ROWS)];
    const text = (column: number): string | null =>
      this.#texts[block?.[(row % BLOCK_ROWS) * TEXTS + column] ?? -1] ?? null;
    const serial = optional(12);
    const id = `${text(0) ?? ""}${serial === null ? "" : String(serial).padStart(6, "0")}`;
    return {
      kind: "request",
      id,
      method: text(1) ?? "",
      path: pathOf(text(2) ?? "", id),
      intendedMs: number(0),
      dispatchedMs: number(1),
      connectedMs: optional(3),
      writtenMs: optional(4),
      firstByteMs: optional(5),
      endedMs: number(2),
      fate: text(3) as RequestRecord["fate"],
      status: optional(6),
      stage: text(4) as RequestRecord["stage"],
      error: text(5),
      connection: {
        id: number(7),
        reuse: number(8),
        ageMs: number(9),
        closedFirst: text(6) as RequestRecord["connection"]["closedFirst"],
      },
      bytes: { promised: optional(10), got: number(11) },
      copy: text(7),
      upstream: text(8),
    };
  }
}
