/** A load as tests run it: sent from here to a port of 127.0.0.1 until enough is known. */

import { startRunClock } from "../../src/ledger/clock.ts";
import type { RequestRecord } from "../../src/ledger/records.ts";
import { createLoadEngine } from "../../src/load/engine.ts";
import type { LoadPlan } from "../../src/load/load.ts";

type Change = Partial<LoadPlan> & Pick<LoadPlan, "port" | "mix">;

/** A plan that ends by itself only when something is wrong; 10 requests a second where it says nothing else. */
export function loadPlan(change: Change): LoadPlan {
  return {
    host: "127.0.0.1",
    seed: 7,
    arrivals: { kind: "constant", ratePerSecond: 10 },
    keepAlive: true,
    timeoutMs: 10_000,
    maxDurationMs: 30_000,
    ...change,
  };
}

/** Runs it until so many requests have their fate, or until those that have one are `enough`, which is asked at each batch. */
export async function runLoad(
  change: Change,
  enough: number | ((records: readonly RequestRecord[]) => boolean),
): Promise<RequestRecord[]> {
  const engine = createLoadEngine(loadPlan(change), startRunClock().baseMs);
  const isEnough =
    typeof enough === "function"
      ? enough
      : (records: readonly RequestRecord[]): boolean => records.length >= enough;
  const records: RequestRecord[] = [];
  const reached = new Promise<void>((resolve) => {
    engine.onRecords((batch) => {
      records.push(...batch);
      if (isEnough(records)) {
        resolve();
      }
    });
  });
  await engine.start();
  await reached;
  await engine.stop();
  return records;
}
