import { startRunClock } from "../../src/ledger/clock.ts";
import type { RequestRecord } from "../../src/ledger/records.ts";
import { createLoadEngine } from "../../src/load/engine.ts";
import type { LoadPlan } from "../../src/load/load.ts";

/** Runs a load until `enough` requests have their fate. */
export async function runLoad(load: LoadPlan, enough: number): Promise<RequestRecord[]> {
  const engine = createLoadEngine(load, startRunClock().baseMs);
  const records: RequestRecord[] = [];
  const reached = new Promise<void>((resolve) => {
    engine.onRecords((batch) => {
      records.push(...batch);
      if (records.length >= enough) {
        resolve();
      }
    });
  });
  await engine.start();
  await reached;
  await engine.stop();
  return records;
}
