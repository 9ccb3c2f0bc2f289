/** Writes a run's ledger: one record a line, appended in the background, whole after `close` and nearly whole after a crash. */

import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { LabError } from "../errors.ts";
import { LineBuffer } from "./line-buffer.ts";
import type { ControlRecord, LedgerRecord, TrialRecord } from "./records.ts";

export const LEDGER_FILE = "ledger.ndjson";

/** Written at the latest when this much has gathered, or after this long. */
const BUFFER_BYTES = 256 * 1024;
const BUFFER_MS = 200;

export interface LedgerWriter {
  readonly file: string;
  /** Throws `LAB_LEDGER_WRITE` once an earlier write has failed: a run without a ledger need not go on. */
  write(record: LedgerRecord): void;
  writeAll(records: readonly LedgerRecord[]): void;
  /** Writes what is left and closes the file. Call it at the end and on an interrupt; a second call does nothing more. */
  close(): Promise<void>;
}

/** What the writer needs of a file handle. */
export interface LedgerSink {
  appendFile(lines: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

function writeError(file: string, cause: unknown): LabError {
  return new LabError(
    "LAB_LEDGER_WRITE",
    `The ledger ${file} could not be written: ${cause instanceof Error ? cause.message : String(cause)}.`,
    "Free some space or choose another folder for the run, and run it again.",
    { cause },
  );
}

export function ledgerOn(sink: LedgerSink, file: string): LedgerWriter {
  const buffer = new LineBuffer();
  let failure: LabError | null = null;
  let writing: Promise<void> = Promise.resolve();
  let closing: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  function flush(): Promise<void> {
    if (timer !== null) {
      clearTimeout(timer);
      timer = null;
    }
    if (buffer.length > 0) {
      const lines = buffer.take();
      writing = writing
        .then(() => (failure === null ? sink.appendFile(lines) : undefined))
        .catch((error: unknown) => {
          failure ??= writeError(file, error);
        });
    }
    return writing;
  }

  function write(record: LedgerRecord): void {
    if (failure !== null) {
      throw failure;
    }
    if (closing !== null) {
      throw writeError(file, new Error(`a ${record.kind} record came after the end`));
    }
    buffer.add(record);
    if (buffer.length >= BUFFER_BYTES) {
      void flush(); // Its failure is kept and thrown by the next write or by close.
    } else {
      timer ??= setTimeout(() => void flush(), BUFFER_MS);
    }
  }

  async function end(): Promise<void> {
    await flush();
    try {
      await sink.close();
    } catch (error) {
      failure ??= writeError(file, error);
    }
    if (failure !== null) {
      throw failure;
    }
  }

  return {
    file,
    write,
    writeAll: (records) => {
      for (const record of records) {
        write(record);
      }
    },
    close: () => {
      closing ??= end();
      return closing;
    },
  };
}

/** Makes the run's folder and its ledger. A ledger that exists already is never touched: `LAB_LEDGER_WRITE`. */
export async function createLedger(folder: string): Promise<LedgerWriter> {
  const file = path.join(folder, LEDGER_FILE);
  try {
    await mkdir(folder, { recursive: true });
    const handle = await open(file, "ax");
    return ledgerOn(handle, file);
  } catch (error) {
    throw writeError(file, error);
  }
}

/** Adds what a rerun says to the ledger of a run that has ended. One that does not exist is not made: `LAB_LEDGER_WRITE`. */
export async function addToLedger(folder: string, record: TrialRecord | ControlRecord): Promise<void> {
  const file = path.join(folder, LEDGER_FILE);
  try {
    const handle = await open(file, constants.O_WRONLY | constants.O_APPEND);
    const ledger = ledgerOn(handle, file);
    ledger.write(record);
    await ledger.close();
  } catch (error) {
    throw error instanceof LabError ? error : writeError(file, error);
  }
}
