/**
 * Walks all orders of events up to a depth, breadth first. Lives that cannot be told apart any more are walked on
 * once: `fingerprint` holds everything that decides what can follow. Every life is also brought to its end.
 */

import { happen, whatCanHappen } from "./events.ts";
import { fingerprint } from "./fingerprint.ts";
import { checkNow } from "./oracle.ts";
import { World, type Setup } from "./world.ts";

export interface Walked {
  readonly setup: string;
  readonly depth: number;
  /** How many orders of events were covered. */
  readonly orders: bigint;
  /** How many lives were told apart. */
  readonly states: number;
  /** How many events were let happen at the end of a path. */
  readonly steps: number;
}

/** An order of events that breaks a promise. Breadth first, so none is shorter. */
export class BrokenPromise extends Error {
  constructor(setup: Setup, path: readonly string[], cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`${setup.name}: ${path.length === 0 ? "at once" : path.join(", ")}: ${why}`, { cause });
  }
}

/** How many lives are led at the same time: each waits for turns of the loop, and they share them. */
const AT_ONCE = 16;

/** Lives `path` again from the start; what cannot happen is left out. */
export async function live(setup: Setup, path: readonly string[]): Promise<World> {
  const world = new World(setup);
  let at = 0;
  try {
    await world.host.settle();
    for (const name of path) {
      at += 1;
      await happen(world, name);
    }
    checkNow(world);
    return world;
  } catch (error) {
    throw new BrokenPromise(setup, path.slice(0, at), error);
  }
}

/** From wherever it is, a stop must bring it to its end. */
export async function bringToEnd(world: World, path: readonly string[]): Promise<void> {
  try {
    if (!world.over) {
      if (!world.stopping) {
        await world.host.advance(200);
        world.late = false;
        world.signal("SIGTERM");
      }
      const { drainDelayMs, gracefulTimeoutMs, teardownTimeoutMs, settleMs } = world.life.budget;
      await world.host.advance(drainDelayMs + gracefulTimeoutMs + teardownTimeoutMs + settleMs);
      await world.host.settle();
      world.late = false;
      if (!world.over) {
        throw new Error(`it is still ${world.life.state} when all times are over`);
      }
    }
    checkNow(world);
  } catch (error) {
    throw new BrokenPromise(world.setup, [...path, "and the end"], error);
  }
}

/** A life that was found: how to get there, and what can happen then. */
interface Found {
  readonly path: readonly string[];
  readonly events: readonly string[];
}

/** All orders of up to `depth` events after those of `from`. */
export async function walk(setup: Setup, depth: number, from: readonly string[] = []): Promise<Walked> {
  const stacks = Error.stackTraceLimit;
  // The path says more than a stack, and every abort signal makes an error.
  Error.stackTraceLimit = 0;
  try {
    return await walkAll(setup, depth, from);
  } finally {
    Error.stackTraceLimit = stacks;
  }
}

async function walkAll(setup: Setup, depth: number, start: readonly string[]): Promise<Walked> {
  /** Of each life the lives that one event makes of it. */
  const edges = new Map<string, string[]>();
  const root = await live(setup, start);
  const first = fingerprint(root);
  const found = new Set([first]);
  let level = new Map<string, Found>([[first, { path: start, events: whatCanHappen(root) }]]);
  let steps = 0;
  for (let at = 0; at < depth; at += 1) {
    const next = new Map<string, Found>();
    const jobs = [...level].flatMap(([from, { path, events }]) =>
      events.map((name) => ({ from, path: [...path, name] })),
    );
    [...level.keys()].forEach((from) => edges.set(from, []));
    const run = async (): Promise<void> => {
      for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
        const world = await live(setup, job.path);
        steps += 1;
        const to = fingerprint(world);
        edges.get(job.from)?.push(to);
        if (!found.has(to)) {
          found.add(to);
          next.set(to, { path: job.path, events: whatCanHappen(world) });
        }
        // Also one that is known: only a life that is over lets go of the process.
        await bringToEnd(world, job.path);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, run)).catch((error: unknown) => {
      // The others need not go on.
      jobs.length = 0;
      throw error;
    });
    level = next;
  }
  return { setup: setup.name, depth, orders: countOrders(edges, first, depth), states: found.size, steps };
}

/** How many paths of at most `depth` events the merged walk stands for. */
function countOrders(edges: ReadonlyMap<string, readonly string[]>, first: string, depth: number): bigint {
  let ways = new Map([[first, 1n]]);
  let orders = 0n;
  for (let at = 0; at < depth; at += 1) {
    const next = new Map<string, bigint>();
    for (const [from, count] of ways) {
      for (const to of edges.get(from) ?? []) {
        next.set(to, (next.get(to) ?? 0n) + count);
        orders += count;
      }
    }
    ways = next;
  }
  return orders;
}
