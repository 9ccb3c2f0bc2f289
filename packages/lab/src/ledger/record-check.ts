/**
 * What a record must hold so that no verdict and no report stumbles over it: the types of its fields, as records.ts has them. A
 * field that is missing counts as null where null is allowed.
 */

import type { LedgerRecord } from "./records.ts";

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const number: Check = (value) => Number.isFinite(value);
const maybe =
  (check: Check): Check =>
  (value) =>
    value === null || value === undefined || check(value);
const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const plain: Check = (value) => value === null || ["string", "number", "boolean"].includes(typeof value);
const outcome: Check = (value) => value === "pass" || value === "fail" || value === "invalid";
const values: Check = (value) => isObject(value) && Object.values(value).every(plain);

type Fields = Readonly<Record<string, Check>>;

const fields =
  (of: Fields): Check =>
  (value) =>
    isObject(value) && faultOf(value, of) === null;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function faultOf(record: Readonly<Record<string, unknown>>, of: Fields): string | null {
  return Object.keys(of).find((name) => of[name]?.(record[name]) === false) ?? null;
}

const ROUTER_LINE: Fields = {
  atMs: number,
  status: maybe(number),
  tries: list(
    fields({ address: text, status: maybe(number), connectMs: maybe(number), responseMs: maybe(number) }),
  ),
  retries: number,
  termination: maybe(text),
  class: maybe(text),
  bytes: maybe(number),
};

const RECORDS: Readonly<Record<LedgerRecord["kind"], Fields>> = {
  run: { scenario: text, seed: number, at: text, command: list(text), router: text, parameters: values },
  request: {
    id: text,
    method: text,
    path: text,
    intendedMs: number,
    dispatchedMs: number,
    connectedMs: maybe(number),
    writtenMs: maybe(number),
    firstByteMs: maybe(number),
    endedMs: number,
    fate: (value) => value === "answered" || value === "failed",
    status: maybe(number),
    stage: maybe(text),
    error: maybe(text),
    connection: fields({ id: number, reuse: number, ageMs: number, closedFirst: maybe(text) }),
    bytes: fields({ promised: maybe(number), got: number }),
    copy: maybe(text),
    upstream: maybe(text),
    protocol: maybe(text),
    webSocket: maybe(fields({ sent: number, answered: number, crossed: number, closeCode: maybe(number) })),
  },
  event: {
    atMs: number,
    source: text,
    copy: (value) => value === null || text(value),
    event: text,
    detail: values,
  },
  "router-log": { atMs: number, class: text, text },
  "router-request": { id: text, line: maybe(fields(ROUTER_LINE)) },
  witness: {
    id: text,
    copy: text,
    by: text,
    arrivedMs: number,
    bodyMs: maybe(number),
    answeredMs: maybe(number),
  },
  executed: { id: text, copy: maybe(text) },
  end: { atMs: number, reason: text, rows: maybe(number), arrivals: maybe(number) },
  trial: {
    factor: text,
    words: text,
    outcome,
    before: number,
    after: number,
    vanished: list(text),
    proves: list(text),
    folder: text,
  },
  control: { name: text, words: text, outcome, bad: number, sent: number, folder: text },
};

/** The first field that is not as it must be, or null. The record's kind is one of those that are known. */
export function faultyField(record: LedgerRecord): string | null {
  return faultOf(record as unknown as Readonly<Record<string, unknown>>, RECORDS[record.kind]);
}
