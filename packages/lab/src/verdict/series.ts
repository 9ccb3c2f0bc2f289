/** Columns of numbers that grow: a million requests cost eight megabytes for each of their times, and a sort in place. */

import type { Quantiles } from "./verdict.ts";

export class Series {
  #values: Float64Array<ArrayBuffer> = new Float64Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  at(index: number): number {
    return this.#values[index] ?? Number.NaN;
  }

  /** Sorted, as a copy. */
  sorted(): Float64Array {
    return this.#values.slice(0, this.#length).toSorted();
  }
}

/** The smallest value that a share `q` of all values do not exceed; null of nothing. */
export function quantile(sorted: Float64Array, q: number): number | null {
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? null;
}

export function quantiles(series: Series): Quantiles {
  const sorted = series.sorted();
  return {
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    p999: quantile(sorted, 0.999),
    max: quantile(sorted, 1),
  };
}
