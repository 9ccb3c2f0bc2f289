// Quantiles, a seeded shuffle, and a table: what every benchmark here needs to say what it saw.

/** The value below which a share `q` of the sorted list lies (nearest rank). */
export function quantile(values, q) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

export const median = (values) => quantile(values, 0.5);
export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Fisher-Yates on a small linear generator, so that a run can be repeated in the same order. */
export function shuffle(list, seed) {
  const shuffled = [...list];
  let state = seed >>> 0;
  for (let n = shuffled.length - 1; n > 0; n -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (n + 1));
    [shuffled[n], shuffled[other]] = [shuffled[other], shuffled[n]];
  }
  return shuffled;
}

const line = (cells) => `| ${cells.join(" | ")} |`;

/** A Markdown table from rows of equal keys. */
export function table(rows) {
  const names = Object.keys(rows[0]);
  return [
    line(names),
    line(names.map(() => "---")),
    ...rows.map((row) => line(names.map((name) => row[name]))),
  ].join("\n");
}

/** Nanoseconds of the system's monotonic clock, the same in every process of one machine. */
export const nowNs = () => Number(process.hrtime.bigint());
