// Batches of requests on synthetic sockets, shuffled over the variants: what a request costs each of them, without a kernel.
import { mean, median, quantile, shuffle } from "./stats.mjs";

const PER_BATCH = 200;
const WARM_BATCHES = 20;

/** The time that this process has computed, not the time that has passed: other processes take turns on a shared machine. */
function cpuNs() {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

/** Prints, as JSON, the nanoseconds of a request for each of `sockets` (by variant, each with `batch(size)`), and exits. */
export async function measureBatches(sockets, { batches, seed }) {
  const ns = Object.fromEntries(Object.keys(sockets).map((name) => [name, []]));
  for (let warm = 0; warm < WARM_BATCHES; warm += 1) {
    for (const socket of Object.values(sockets)) await socket.batch(PER_BATCH);
  }
  const order = shuffle(
    Object.keys(sockets).flatMap((name) => Array.from({ length: batches }, () => name)),
    seed,
  );
  for (const name of order) {
    const start = cpuNs();
    await sockets[name].batch(PER_BATCH);
    ns[name].push((cpuNs() - start) / PER_BATCH);
  }
  const summary = Object.fromEntries(
    Object.entries(ns).map(([name, each]) => [
      name,
      { p10: quantile(each, 0.1), median: median(each), mean: mean(each) },
    ]),
  );
  process.stdout.write(`${JSON.stringify(summary)}\n`, () => process.exit(0));
}
