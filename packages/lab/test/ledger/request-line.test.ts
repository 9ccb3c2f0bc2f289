import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { requestLines } from "../../src/ledger/request-line.ts";
import type { RequestRecord } from "../../src/ledger/records.ts";
import { request } from "../verdict/ledger.ts";

const lines = requestLines();

function parse(text: string): RequestRecord | null {
  const bytes = Buffer.from(`before${text}\nafter`);
  return lines.parse(bytes, 6, bytes.length - 6);
}

const time = fc.integer({ min: -5_000_000, max: 4_000_000_000 }).map((micros) => micros / 1000);
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value);
/** As the load engine makes them: times to the microsecond, texts in ASCII. */
const records: fc.Arbitrary<RequestRecord> = fc
  .record(
    {
      id: fc.stringMatching(/^[\w-]{0,20}$/),
      method: fc.constantFrom("GET", "POST", "PUT"),
      path: fc.stringMatching(/^\/[ !#-[\]-~]{0,40}$/),
      times: fc.tuple(time, time, maybe(time), maybe(time), maybe(time), time),
      failed: fc.boolean(),
      status: maybe(fc.integer({ min: 100, max: 599 })),
      stage: fc.constantFrom(null, "connect" as const, "write" as const, "wait" as const, "body" as const),
      error: fc.constantFrom(null, "ECONNRESET", "EOF", "ERR_A_NAME_THAT_IS_LONG"),
      connection: fc.tuple(
        fc.nat(),
        fc.nat(),
        time,
        fc.constantFrom(null, "client" as const, "server" as const),
      ),
      bytes: fc.tuple(maybe(fc.nat()), fc.nat()),
      copy: maybe(fc.constantFrom("A", "B2", "31337", "a name of more than twelve letters")),
      upstream: maybe(fc.constantFrom("127.0.0.1:9001|200|0.001|0.020", "")),
    },
    { noNullPrototype: true },
  )
  .map((one) => ({
    kind: "request",
    id: one.id,
    method: one.method,
    path: one.path,
    intendedMs: one.times[0] + 0,
    dispatchedMs: one.times[1] + 0,
    connectedMs: one.times[2],
    writtenMs: one.times[3],
    firstByteMs: one.times[4],
    endedMs: one.times[5] + 0,
    fate: one.failed ? "failed" : "answered",
    status: one.status,
    stage: one.stage,
    error: one.error,
    connection: {
      id: one.connection[0],
      reuse: one.connection[1],
      ageMs: one.connection[2] + 0,
      closedFirst: one.connection[3],
    },
    bytes: { promised: one.bytes[0], got: one.bytes[1] },
    copy: one.copy,
    upstream: one.upstream,
  }));

test("a line of the writer is read as JSON.parse reads it, to the last digit", () => {
  fc.assert(
    fc.property(records, (record) => {
      const text = JSON.stringify(record);
      assert.deepEqual(parse(text), JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

test("whatever has another shape is left to JSON.parse", () => {
  const whole = JSON.stringify(request(1));
  const others = [
    JSON.stringify({ kind: "event", atMs: 1 }),
    JSON.stringify({ kind: "end" }),
    JSON.stringify(request(1, { path: "/ä" })),
    JSON.stringify(request(1, { path: '/"quoted"' })),
    JSON.stringify({ ...request(1), more: 1 }),
    JSON.stringify({ ...request(1), intendedMs: 1e-7 }),
    JSON.stringify({ ...request(1), intendedMs: 1 / 3 }),
    JSON.stringify({ ...request(1), status: "200" }),
    whole.replace(',"method"', ', "method"'),
    whole.slice(0, -1),
    `${whole} `,
    "",
    "{}",
  ];
  for (const text of others) {
    assert.equal(parse(text), null, text);
  }
  assert.deepEqual(parse(whole), JSON.parse(whole));
});
