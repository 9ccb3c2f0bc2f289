import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { LabError, type LabCode } from "../../src/errors.ts";
import { readLedger } from "../../src/ledger/reader.ts";
import type { LedgerRecord } from "../../src/ledger/records.ts";
import { event, end, executed, request, run } from "../verdict/ledger.ts";

const folder = await mkdtemp(path.join(os.tmpdir(), "lastcall-reader-"));
after(() => rm(folder, { recursive: true }));
let files = 0;

async function read(text: string): Promise<{ records: LedgerRecord[]; torn: number | null }> {
  const file = path.join(folder, `${(files += 1)}.ndjson`);
  await writeFile(file, text);
  const reader = readLedger(file);
  const records: LedgerRecord[] = [];
  for await (const record of reader.records) {
    records.push(record);
  }
  return { records, torn: reader.tornLine() };
}

function lines(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

async function fails(text: string, code: LabCode, message: RegExp): Promise<void> {
  await assert.rejects(read(text), (error) => {
    assert.ok(error instanceof LabError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.notEqual(error.next, "");
    return true;
  });
}

const WHOLE: readonly LedgerRecord[] = [
  run(),
  event(0, "load-started"),
  request(1, { path: "/ä/☎" }),
  executed("r1-1"),
  end(),
];

test("a ledger is read as it was written", async () => {
  assert.deepEqual(await read(lines(WHOLE)), { records: WHOLE, torn: null });
});

test("wherever a ledger is cut, the whole lines before the cut are read", async () => {
  const bytes = Buffer.from(lines(WHOLE));
  const [head = ""] = lines(WHOLE).split("\n");
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: head.length, max: bytes.length }), async (cut) => {
      const { records, torn } = await read(bytes.subarray(0, cut).toString("latin1"));
      const whole = bytes.subarray(0, cut).toString("latin1").split("\n");
      const rest = whole.pop() ?? "";
      const complete = rest !== "" && rest.endsWith("}") && isJson(rest);
      assert.equal(records.length, whole.length + (complete ? 1 : 0));
      assert.equal(torn, rest === "" || complete ? null : whole.length + 1);
    }),
    { numRuns: 60 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("a broken line in the middle is an error with its number", async () => {
  const [first = "", ...others] = lines(WHOLE).split("\n");
  await fails([first, "{broken", ...others].join("\n"), "LAB_LEDGER_READ", /:2 is not JSON/);
  await fails([first, "", ...others].join("\n"), "LAB_LEDGER_READ", /:2 is not JSON/);
  await fails([first, "[]", ...others].join("\n"), "LAB_LEDGER_READ", /:2 is not a record/);
  await fails(
    [first, '{"kind":"other"}', ...others].join("\n"),
    "LAB_LEDGER_READ",
    /:2 has the kind "other"/,
  );
  await fails(
    [first, '{"kind":"request","id":"x"}', ...others].join("\n"),
    "LAB_LEDGER_READ",
    /:2 is a record of kind request without a proper \w+/,
  );
  await fails(
    [first, '{"kind":"event"}', ...others].join("\n"),
    "LAB_LEDGER_READ",
    /:2 is a record of kind event without a proper atMs/,
  );
});

test("another schema, another kind of file, an empty one and none are told apart", async () => {
  await fails(
    lines([{ ...run(), schema: "lastcall.ledger/9" }]),
    "LAB_LEDGER_SCHEMA",
    /lastcall\.ledger\/9.*reads lastcall\.ledger\/1/,
  );
  await fails(lines([end(), run()]), "LAB_LEDGER_SCHEMA", /first record is of kind end/);
  await fails("", "LAB_LEDGER_READ", /empty or cut off/);
  await fails('{"kind":"ru', "LAB_LEDGER_READ", /empty or cut off/);
  const missing = readLedger(path.join(folder, "missing.ndjson"));
  await assert.rejects(
    missing.records[Symbol.asyncIterator]().next(),
    (error) => error instanceof LabError && error.code === "LAB_LEDGER_READ" && /ENOENT/.test(error.message),
  );
});

test("a ledger larger than a read of the disk is read whole", async () => {
  const many = [
    run(),
    ...Array.from({ length: 6000 }, (_, n) => request(n, { path: `/${"ü".repeat(100)}` })),
  ];
  const { records } = await read(lines(many));
  assert.deepEqual(records, many);
});
