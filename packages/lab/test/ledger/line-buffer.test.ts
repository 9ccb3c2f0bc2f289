import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { LineBuffer } from "../../src/ledger/line-buffer.ts";
import type { LedgerRecord } from "../../src/ledger/records.ts";
import { anyRequest } from "./any-request.ts";

const time = fc.oneof(
  fc.integer({ min: 0, max: 4e12 }).map((micros) => micros / 1000),
  fc.integer({ min: -2000, max: 3_600_000_000 }).map((micros) => micros / 1000),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const count = fc.oneof(fc.nat(), fc.constantFrom(0, -0, 9, 10, 2 ** 31 - 1, 2 ** 31, 2 ** 53));
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom('a"b', "a\\b", "ä", "\ud800", ""),
);
const requests = anyRequest({ time, count, status: count, text });

function linesOf(buffer: LineBuffer): string {
  return Buffer.from(buffer.take()).toString("utf8");
}

test("a request's line is what JSON.stringify makes of it", () => {
  fc.assert(
    fc.property(fc.array(requests, { maxLength: 5 }), (all) => {
      const buffer = new LineBuffer();
      for (const record of all) {
        buffer.add(record);
      }
      assert.equal(
        linesOf(buffer),
        Buffer.from(all.map((record) => `${JSON.stringify(record)}\n`).join("")).toString("utf8"),
      );
      assert.equal(buffer.length, 0);
    }),
    { numRuns: 1000 },
  );
});

test("lines longer than the buffer are whole, and stand behind what was there", () => {
  const buffer = new LineBuffer();
  const event = (letters: string): LedgerRecord => ({
    kind: "event",
    atMs: 1.5,
    source: "lab",
    copy: null,
    event: "note",
    detail: { text: letters },
  });
  const all: LedgerRecord[] = [event("one"), event("ä".repeat(400_000)), event("three")];
  const [base] = fc.sample(requests, 1);
  assert.ok(base !== undefined);
  for (const path of ["x".repeat(500_000), '"'.repeat(300_000), "/short"]) {
    const { template: _, uploaded: __, events: ___, ...plain } = base;
    all.push({ ...plain, path });
  }
  for (const record of all) {
    buffer.add(record);
  }
  assert.equal(linesOf(buffer), all.map((record) => `${JSON.stringify(record)}\n`).join(""));
});
