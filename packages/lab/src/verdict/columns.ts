/** Columns of numbers that grow by whole blocks: nothing is copied, and a million rows cost what their numbers cost. */

const BLOCK_BITS = 14;
const BLOCK_ROWS = 1 << BLOCK_BITS;
const WITHIN = BLOCK_ROWS - 1;

type Numbers = Float64Array | Int32Array | Uint8Array;

export class Column {
  readonly #blocks: Numbers[] = [];
  readonly #make: (rows: number) => Numbers;
  #length = 0;

  constructor(make: (rows: number) => Numbers) {
    this.#make = make;
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): number {
    const row = this.#length;
    if ((row & WITHIN) === 0) {
      this.#blocks.push(this.#make(BLOCK_ROWS));
    }
    const block = this.#blocks[row >>> BLOCK_BITS];
    if (block !== undefined) {
      block[row & WITHIN] = value;
    }
    this.#length = row + 1;
    return row;
  }

  at(row: number): number {
    return this.#blocks[row >>> BLOCK_BITS]?.[row & WITHIN] ?? Number.NaN;
  }

  set(row: number, value: number): void {
    const block = this.#blocks[row >>> BLOCK_BITS];
    if (block !== undefined) {
      block[row & WITHIN] = value;
    }
  }
}

export const float64 = (): Column => new Column((rows) => new Float64Array(rows));
export const int32 = (): Column => new Column((rows) => new Int32Array(rows));
export const uint8 = (): Column => new Column((rows) => new Uint8Array(rows));
