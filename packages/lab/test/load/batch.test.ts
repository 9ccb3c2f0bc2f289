import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BatchWriter, readBatch } from "../../src/load/batch.ts";
import type { Exchange } from "../../src/load/exchange.ts";
import { createMix } from "../../src/load/mix.ts";

const mix = createMix({
  host: "127.0.0.1",
  port: 1,
  seed: 3,
  mix: [
    { method: "GET", path: "/a/{id}", body: null, weight: 1 },
    { method: "POST", path: "/b", body: "{}", weight: 1, name: "write" },
  ],
  keepAlive: true,
});

function plannedOf({ n, webSocket, again }: Exchange): object {
  const { id, method, path, name } = mix.at(n, webSocket === null ? 0 : again);
  return { id, method, path, ...(name === null ? {} : { template: name }) };
}

/** Times have three digits, so that they come back exactly. */
const time = fc.integer({ min: 0, max: 1e9 }).map((micros) => micros / 1000);
const never = fc.constant(Number.NaN);
const text = fc.option(fc.constantFrom("A", "B", "ECONNRESET", "EOF"));
const exchanges: fc.Arbitrary<Exchange> = fc.record({
  n: fc.nat(),
  intendedMs: time,
  dispatchedMs: time,
  connectedMs: fc.oneof(time, never),
  writtenMs: fc.oneof(time, never),
  firstByteMs: fc.oneof(time, never),
  endedMs: time,
  status: fc.option(fc.integer({ min: 100, max: 599 })),
  stage: fc.constantFrom(null, "connect" as const, "write" as const, "wait" as const, "body" as const),
  error: text,
  connectionId: fc.nat(),
  reuse: fc.nat(),
  ageMs: time,
  closedFirst: fc.constantFrom(null, "client" as const, "server" as const),
  promised: fc.option(fc.nat()),
  got: fc.nat(),
  copy: text,
  upstream: text,
  uploaded: fc.oneof(fc.nat(), never),
  events: fc.oneof(fc.nat(), never),
  webSocket: fc.option(
    fc.record(
      { sent: fc.nat(), answered: fc.nat(), crossed: fc.nat(), closeCode: fc.option(fc.nat()) },
      { noNullPrototype: true },
    ),
  ),
  again: fc.nat(3),
});

function orNull(ms: number): number | null {
  return Number.isNaN(ms) ? null : ms;
}

test("what is put into a batch comes out as records, in order", () => {
  fc.assert(
    fc.property(fc.array(exchanges, { maxLength: 20 }), (all) => {
      const writer = new BatchWriter(20);
      for (const exchange of all) {
        writer.add(exchange);
      }
      assert.deepEqual([writer.count, writer.full], [all.length, all.length === 20]);
      const records = readBatch(structuredClone(writer.take()), mix);
      assert.deepEqual(
        records,
        all.map((exchange) => ({
          kind: "request",
          ...plannedOf(exchange),
          intendedMs: exchange.intendedMs,
          dispatchedMs: exchange.dispatchedMs,
          connectedMs: orNull(exchange.connectedMs),
          writtenMs: orNull(exchange.writtenMs),
          firstByteMs: orNull(exchange.firstByteMs),
          endedMs: exchange.endedMs,
          fate: exchange.stage === null ? "answered" : "failed",
          status: exchange.status,
          stage: exchange.stage,
          error: exchange.error,
          connection: {
            id: exchange.connectionId,
            reuse: exchange.reuse,
            ageMs: exchange.ageMs,
            closedFirst: exchange.closedFirst,
          },
          bytes: { promised: exchange.promised, got: exchange.got },
          copy: exchange.copy,
          upstream: exchange.upstream,
          ...(Number.isNaN(exchange.uploaded) ? {} : { uploaded: exchange.uploaded }),
          ...(Number.isNaN(exchange.events) ? {} : { events: exchange.events }),
          ...(exchange.webSocket === null ? {} : { webSocket: exchange.webSocket }),
        })),
      );
      assert.equal(writer.count, 0);
      assert.deepEqual(readBatch(writer.take(), mix), []);
    }),
  );
});
