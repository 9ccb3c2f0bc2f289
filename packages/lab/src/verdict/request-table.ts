/**
 * All requests of a run as rows of numbers, because a million objects would fill the memory: 160 bytes each instead of 600.
 * Texts are kept once. Any record can be had back whole.
 */

import type { RequestRecord } from "../ledger/records.ts";

/** Columns that are asked for by name; the others only serve to rebuild a record. */
export const COLUMN: {
  readonly intendedMs: 0;
  readonly dispatchedMs: 1;
  readonly endedMs: 2;
} = { intendedMs: 0, dispatchedMs: 1, endedMs: 2 };

const WIDTH = 20;
const BLOCK_ROWS = 1024;

export class RequestTable {
  readonly #blocks: Float64Array[] = [];
  readonly #ids: string[] = [];
  readonly #texts: (string | null)[] = [];
  readonly #textIndex = new Map<string | null, number>();

  get length(): number {
    return this.#ids.length;
  }

  /** The row of the record. */
  add(record: RequestRecord): number {
    const row = this.#ids.push(record.id) - 1;
    let at = (row % BLOCK_ROWS) * WIDTH;
    if (at === 0) {
      this.#blocks.push(new Float64Array(BLOCK_ROWS * WIDTH));
    }
    const block = this.#blocks.at(-1) ?? new Float64Array(0);
    block[at++] = record.intendedMs;
    block[at++] = record.dispatchedMs;
    block[at++] = record.endedMs;
    block[at++] = record.connectedMs ?? Number.NaN;
    block[at++] = record.writtenMs ?? Number.NaN;
    block[at++] = record.firstByteMs ?? Number.NaN;
    block[at++] = record.status ?? Number.NaN;
    block[at++] = record.connection.id;
    block[at++] = record.connection.reuse;
    block[at++] = record.connection.ageMs;
    block[at++] = record.bytes.promised ?? Number.NaN;
    block[at++] = record.bytes.got;
    block[at++] = this.#text(record.method);
    block[at++] = this.#text(record.path);
    block[at++] = this.#text(record.fate);
    block[at++] = this.#text(record.stage);
    block[at++] = this.#text(record.error);
    block[at++] = this.#text(record.connection.closedFirst);
    block[at++] = this.#text(record.copy);
    block[at++] = this.#text(record.upstream);
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
    return this.#blocks[Math.floor(row / BLOCK_ROWS)]?.[(row % BLOCK_ROWS) * WIDTH + column] ?? Number.NaN;
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
    const text = (column: number): string | null => this.#texts[this.value(row, column)] ?? null;
    return {
      kind: "request",
      id: this.#ids[row] ?? "",
      method: text(12) ?? "",
      path: text(13) ?? "",
      intendedMs: number(0),
      dispatchedMs: number(1),
      connectedMs: optional(3),
      writtenMs: optional(4),
      firstByteMs: optional(5),
      endedMs: number(2),
      fate: text(14) as RequestRecord["fate"],
      status: optional(6),
      stage: text(15) as RequestRecord["stage"],
      error: text(16),
      connection: {
        id: number(7),
        reuse: number(8),
        ageMs: number(9),
        closedFirst: text(17) as RequestRecord["connection"]["closedFirst"],
      },
      bytes: { promised: optional(10), got: number(11) },
      copy: text(18),
      upstream: text(19),
    };
  }
}
