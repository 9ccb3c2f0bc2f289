/** Exact quantiles: all values are at hand, so nothing is estimated. */

import type { Quantiles } from "./verdict.ts";

/** The smallest value that a share `q` of all values do not exceed; null of nothing. */
export function quantile(sorted: Float64Array, q: number): number | null {
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? null;
}

export function quantilesOf(values: Float64Array): Quantiles {
  const sorted = values.toSorted();
  return {
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    p999: quantile(sorted, 0.999),
    max: quantile(sorted, 1),
  };
}
