import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { quantile, quantilesOf } from "../../src/verdict/quantiles.ts";
import { COLUMN, RequestTable } from "../../src/verdict/request-table.ts";
import { anyRequest } from "../ledger/any-request.ts";

const time = fc.double({ min: -1e3, max: 1e9, noNaN: true }).map((ms) => ms + 0);
const status = fc.integer({ min: 100, max: 599 });
const records = anyRequest({ time, count: fc.nat(), status, text: fc.string() });

test("every record comes back as it was put in", () => {
  fc.assert(
    fc.property(fc.array(records, { maxLength: 40 }), (all) => {
      const table = new RequestTable();
      const rows = all.map((record) => table.add(record, true));
      assert.equal(table.length, all.length);
      assert.deepEqual(
        rows.map((row) => table.record(row)),
        all,
      );
    }),
  );
});

test("rows beyond a block are found", () => {
  const [sample] = fc.sample(records, 1);
  assert.ok(sample !== undefined);
  const table = new RequestTable();
  for (let n = 0; n < 20_000; n += 1) {
    table.add({ ...sample, endedMs: n }, n % 3 === 0);
  }
  const ends = table.map((row) => table.value(row, COLUMN.endedMs));
  assert.equal(ends.length, 20_000);
  assert.ok(ends.every((value, row) => value === row));
});

test("a quantile is the smallest value that its share does not exceed", () => {
  const values = Float64Array.from([5, 1, 4, 2, 3]);
  assert.deepEqual(quantilesOf(values), { p50: 3, p99: 5, p999: 5, max: 5 });
  assert.deepEqual(quantilesOf(new Float64Array(0)), { p50: null, p99: null, p999: null, max: null });
  const hundred = Float64Array.from({ length: 100 }, (_, n) => n + 1);
  assert.deepEqual([quantile(hundred, 0.01), quantile(hundred, 0.99), quantile(hundred, 0)], [1, 99, 1]);
});
