import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { RequestRecord } from "../../src/ledger/records.ts";
import { quantile, quantilesOf } from "../../src/verdict/quantiles.ts";
import { COLUMN, RequestTable } from "../../src/verdict/request-table.ts";

const time = fc.double({ min: -1e3, max: 1e9, noNaN: true }).map((ms) => ms + 0);
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value);
const plain = { noNullPrototype: true } as const;
const REQUIRED = [
  "kind",
  "id",
  "method",
  "path",
  "intendedMs",
  "dispatchedMs",
  "connectedMs",
  "writtenMs",
  "firstByteMs",
  "endedMs",
  "fate",
  "status",
  "stage",
  "error",
  "connection",
  "bytes",
  "copy",
  "upstream",
] as const;
const records: fc.Arbitrary<RequestRecord> = fc.record(
  {
    kind: fc.constant("request" as const),
    id: fc.string(),
    method: fc.constantFrom("GET", "POST"),
    path: fc.string(),
    intendedMs: time,
    dispatchedMs: time,
    connectedMs: maybe(time),
    writtenMs: maybe(time),
    firstByteMs: maybe(time),
    endedMs: time,
    fate: fc.constantFrom("answered" as const, "failed" as const),
    status: maybe(fc.integer({ min: 100, max: 599 })),
    stage: fc.constantFrom(null, "connect" as const, "write" as const, "wait" as const, "body" as const),
    error: maybe(fc.string()),
    connection: fc.record(
      {
        id: fc.nat(),
        reuse: fc.nat(),
        ageMs: time,
        closedFirst: fc.constantFrom(null, "client" as const, "server" as const),
      },
      plain,
    ),
    bytes: fc.record({ promised: maybe(fc.nat()), got: fc.nat() }, plain),
    copy: maybe(fc.string()),
    upstream: maybe(fc.string()),
    template: fc.string(),
    uploaded: fc.nat(),
    events: fc.nat(),
  },
  { ...plain, requiredKeys: [...REQUIRED] },
);

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
