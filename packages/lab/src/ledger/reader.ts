/** Reads a ledger as a stream. A torn last line is what an interrupted run leaves: told, not an error. Anything else that is broken is. */

import { createReadStream } from "node:fs";
import { LabError } from "../errors.ts";
import { faultyField } from "./record-check.ts";
import type { LedgerRecord } from "./records.ts";
import { requestLines } from "./request-line.ts";

export const LEDGER_SCHEMA = "lastcall.ledger/1";

export interface LedgerReader {
  /** Read either these, one by one, or `batches`. */
  readonly records: AsyncIterable<LedgerRecord>;
  /** The same, many at a time: what a judge of a million records wants. */
  readonly batches: AsyncIterable<readonly LedgerRecord[]>;
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
  "trial",
  "control",
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
  // The head's own schema is told first: of another version nothing else need fit.
  const field = record.kind === "run" && record.schema !== LEDGER_SCHEMA ? null : faultyField(record);
  return field === null ? record : `is a record of kind ${record.kind} without a proper ${field}`;
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

const NEW_LINE = 0x0a;
const CHUNK_BYTES = 1024 * 1024;

export function readLedger(file: string): LedgerReader {
  let torn: number | null = null;
  let line = 0;
  const requests = requestLines();

  function accept(text: string): LedgerRecord {
    const record = parse(text);
    if (typeof record === "string") {
      throw broken(file, line, record);
    }
    if (line === 1) {
      assertSchema(file, record);
    } else if (record.kind === "run") {
      throw broken(file, line, "begins a second run: two ledgers stand in one file");
    }
    return record;
  }

  async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* createReadStream(file, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>;
    } catch (error) {
      throw new LabError(
        "LAB_LEDGER_READ",
        `The ledger ${file} could not be read: ${(error as Error).message}.`,
        "Check the path; a run folder holds ledger.ndjson.",
        { cause: error },
      );
    }
  }

  async function* batches(): AsyncGenerator<readonly LedgerRecord[], void, undefined> {
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of chunks()) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const batch: LedgerRecord[] = [];
      let from = 0;
      for (let to = bytes.indexOf(NEW_LINE); to >= 0; to = bytes.indexOf(NEW_LINE, from)) {
        line += 1;
        const quick = line === 1 ? null : requests.parse(bytes, from, to);
        batch.push(quick ?? accept(bytes.toString("utf8", from, to)));
        from = to + 1;
      }
      rest = bytes.subarray(from);
      yield batch;
    }
    if (rest.length > 0) {
      const text = rest.toString("utf8");
      line += 1;
      // A last line without its end may still be whole.
      if (typeof parse(text) === "string") {
        torn = line;
      } else {
        yield [accept(text)];
      }
    }
    if (line === 0 || (line === 1 && torn === 1)) {
      throw broken(file, 1, "is empty or cut off: there is no run in it");
    }
  }

  async function* records(
    of: AsyncIterable<readonly LedgerRecord[]>,
  ): AsyncGenerator<LedgerRecord, void, undefined> {
    for await (const batch of of) {
      yield* batch;
    }
  }

  const all = batches();
  return { batches: all, records: records(all), tornLine: () => torn };
}
