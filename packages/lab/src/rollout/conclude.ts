/** How a run ends: to its end, interrupted, or by an error. In each its ledger is ended, and what was started is closed. */

import type { EndRecord } from "../ledger/records.ts";
import type { Recorder } from "./recorder.ts";
import type { RunResult } from "./run.ts";
import { Interrupted, type Scope } from "./scope.ts";

/** Plays `run`, and ends the ledger by `end` as it went. */
export async function concludeRun(
  scope: Scope,
  recorder: Recorder,
  end: (reason: EndRecord["reason"]) => Promise<void>,
  run: () => Promise<void>,
): Promise<RunResult> {
  const { records, note } = recorder;
  try {
    await run();
    await end("finished");
    return { records, ended: "finished" };
  } catch (error) {
    if (error instanceof Interrupted) {
      await end("interrupted");
      return { records, ended: "interrupted" };
    }
    note("note", { text: error instanceof Error ? error.message : String(error) });
    // What ended the run is what is told; that its ledger could not be ended well adds nothing.
    await end("failed").catch(() => undefined);
    throw error;
  } finally {
    recorder.close();
    await scope.close();
  }
}
