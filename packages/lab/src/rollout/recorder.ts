/** Writes a run's records, in their order: into the ledger, into memory for the judge, and to whoever watches. */

import type { RunClock } from "../ledger/clock.ts";
import type { EndRecord, EventRecord, LedgerRecord } from "../ledger/records.ts";
import { createLedger } from "../ledger/writer.ts";
import type { Scope } from "./scope.ts";

export interface Recorder {
  readonly records: readonly LedgerRecord[];
  write(record: LedgerRecord): void;
  /** Something that the lab itself did or saw. */
  note(event: EventRecord["event"], detail?: EventRecord["detail"]): void;
  /** The last record; nothing is written after it. */
  end(reason: EndRecord["reason"], rows: number | null, arrivals: number | null): Promise<void>;
  /** Drops whatever still comes. */
  close(): void;
}

export async function createRecorder(
  folder: string,
  clock: RunClock,
  scope: Scope,
  onRecord: (record: LedgerRecord) => void,
): Promise<Recorder> {
  const ledger = await createLedger(folder);
  const records: LedgerRecord[] = [];
  let open = true;
  const write = (record: LedgerRecord): void => {
    if (open) {
      records.push(record);
      onRecord(record);
      try {
        ledger.write(record);
      } catch (error) {
        // Records come from events; the run's own thread of waits is where a full disk must be heard of.
        open = false;
        scope.fail(error);
      }
    }
  };
  return {
    records,
    write,
    note: (event, detail = {}) =>
      write({ kind: "event", atMs: clock.now(), source: "lab", copy: null, event, detail }),
    end: async (reason, rows, arrivals) => {
      write({ kind: "end", atMs: clock.now(), reason, rows, arrivals });
      open = false;
      await ledger.close();
    },
    close: () => {
      open = false;
    },
  };
}
