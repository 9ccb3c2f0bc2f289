/** How much a count proves (R5): the upper end of the one-sided 95 % interval of "k of n". */

import type { Bound } from "./verdict.ts";

const MISS = 0.05;

/** ln(n!), by Stirling's series where it is exact to 13 digits. */
function lnFactorial(n: number): number {
  if (n < 10) {
    let product = 1;
    for (let factor = 2; factor <= n; factor += 1) {
      product *= factor;
    }
    return Math.log(product);
  }
  const x = n + 1;
  const series = 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5) - 1 / (1680 * x ** 7);
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series;
}

/** The chance to see k or fewer of n when each has the chance p. Meant for p above k/n, where the terms fall from k down. */
function atMost(k: number, n: number, p: number): number {
  let term = Math.exp(
    lnFactorial(n) - lnFactorial(k) - lnFactorial(n - k) + k * Math.log(p) + (n - k) * Math.log1p(-p),
  );
  let sum = term;
  for (let i = k; i > 0 && term > sum * 1e-16; i -= 1) {
    term *= (i / (n - i + 1)) * ((1 - p) / p);
    sum += term;
  }
  return sum;
}

/** The share above which k or fewer of n would be seen in less than 5 % of runs: Clopper and Pearson's exact upper limit. */
export function clopperPearsonUpper(k: number, n: number): number {
  if (k >= n) {
    return 1;
  }
  let low = k / n;
  let high = 1;
  for (let step = 0; step < 50; step += 1) {
    const middle = (low + high) / 2;
    if (atMost(k, n, middle) > MISS) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high;
}

export function bound(bad: number, of: number): Bound {
  if (of === 0) {
    return { bad, of, upper95: null };
  }
  // The rule of three, which everybody can check in the head, lies a little above the exact limit.
  return { bad, of, upper95: bad === 0 ? Math.min(1, 3 / of) : clopperPearsonUpper(bad, of) };
}
