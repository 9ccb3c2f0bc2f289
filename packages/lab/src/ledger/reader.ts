/** Reads a ledger as a stream. A torn last line is what an interrupted run leaves: told, not an error. Anything else that is broken is. */

import { createReadStream } from "node:fs";
import { LabError } from "../errors.ts";
import type { LedgerRecord } from "./records.ts";

export const LEDGER_SCHEMA = "lastcall.ledger/1";

export interface LedgerReader {
  readonly records: AsyncIterable<LedgerRecord>;
  /** After the last record: the number of the line that was cut off, or null. */
  readonly tornLine: () => number | null;
}

const KINDS: ReadonlySet<string> = new Set<LedgerRecord["kind"]>([
  "run",
  "request",
  "event",
  "router-log",
  "router-request",
  "witness",
  "executed",
  "end",
]);

function broken(file: string, line: number, reason: string, cause?: unknown): LabError {
  return new LabError(
    "LAB_LEDGER_READ",
    `${file}:${line} ${reason}.`,
    "A ledger is written by the lab and not meant to be edited: restore the file or run again.",
    { cause },
  );
}

/** The record in a line, or the reason why there is none. */
function parse(text: string): LedgerRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `is not JSON (${(error as Error).message})`;
  }
  if (typeof value !== "object" || value === null || !("kind" in value)) {
    return "is not a record: it has no kind";
  }
  if (typeof value.kind !== "string" || !KINDS.has(value.kind)) {
    return `has the kind ${JSON.stringify(value.kind)}, which this version does not know`;
  }
  const record = value as LedgerRecord;
  // Only what the verdict would stumble over without a word.
  if (
    record.kind === "request" &&
    !(
      typeof record.id === "string" &&
      Number.isFinite(record.intendedMs) &&
      Number.isFinite(record.dispatchedMs) &&
      Number.isFinite(record.endedMs) &&
      typeof record.connection === "object" &&
      typeof record.bytes === "object"
    )
  ) {
    return "is a request record without its id, times, connection or bytes";
  }
  if (record.kind === "event" && !(Number.isFinite(record.atMs) && typeof record.detail === "object")) {
    return "is an event record without its time or detail";
  }
  return record;
}

function assertSchema(file: string, record: LedgerRecord): void {
  if (record.kind !== "run") {
    throw new LabError(
      "LAB_LEDGER_SCHEMA",
      `${file} is not a ledger: its first record is of kind ${record.kind}, not run.`,
      "Give the ledger.ndjson of a run folder.",
    );
  }
  const schema: string = record.schema;
  if (schema !== LEDGER_SCHEMA) {
    throw new LabError(
      "LAB_LEDGER_SCHEMA",
      `${file} has the schema ${JSON.stringify(schema)}; this version reads ${LEDGER_SCHEMA}.`,
      "Read it with the version of lastcall that wrote it.",
    );
  }
}

export function readLedger(file: string): LedgerReader {
  let torn: number | null = null;

  async function* read(): AsyncGenerator<LedgerRecord, void, undefined> {
    let line = 0;
    let rest = "";
    const accept = (text: string): LedgerRecord => {
      const record = parse(text);
      if (typeof record === "string") {
        throw broken(file, line, record);
      }
      if (line === 1) {
        assertSchema(file, record);
      }
      return record;
    };
    try {
      for await (const chunk of createReadStream(file, {
        encoding: "utf8",
        highWaterMark: 1024 * 1024,
      }) as AsyncIterable<string>) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const text of lines) {
          line += 1;
          yield accept(text);
        }
      }
    } catch (error) {
      if (error instanceof LabError) {
        throw error;
      }
      throw new LabError(
        "LAB_LEDGER_READ",
        `The ledger ${file} could not be read: ${(error as Error).message}.`,
        "Check the path; a run folder holds ledger.ndjson.",
        { cause: error },
      );
    }
    if (rest !== "") {
      line += 1;
      // A last line without its end may still be whole.
      if (typeof parse(rest) === "string") {
        torn = line;
      } else {
        yield accept(rest);
      }
    }
    if (line === 0 || (line === 1 && torn === 1)) {
      throw broken(file, 1, "is empty or cut off: there is no run in it");
    }
  }

  return { records: read(), tornLine: () => torn };
}
