/** Chance with a seed, so that a run can be had again. */

export interface Chance {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  oneIn(n: number): boolean;
  pick<T>(list: readonly [T, ...T[]]): T;
}

/** A linear congruential generator with the constants of Numerical Recipes; its high bits are good enough here. */
export function chance(seed: number): Chance {
  let state = (seed * 2_654_435_761) >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    oneIn: (n) => below(n) === 0,
    pick: (list) => list[below(list.length)] ?? list[0],
  };
}
