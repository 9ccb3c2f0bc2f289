import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { LoadPlan, RequestTemplate } from "../../src/load/load.ts";
import { createMix, requestId } from "../../src/load/mix.ts";

const GET: RequestTemplate = { method: "GET", path: "/work?id={id}", body: null, weight: 1 };
const POST: RequestTemplate = {
  method: "POST",
  path: "/orders",
  body: '{"id":"{id}","ä":"{id}"}',
  weight: 3,
};

function mix(
  templates: readonly RequestTemplate[],
  change: Partial<LoadPlan> = {},
): ReturnType<typeof createMix> {
  return createMix({ host: "127.0.0.1", port: 80, seed: 5, mix: templates, keepAlive: true, ...change });
}

test("ids are unique, readable and as long as they need be", () => {
  assert.equal(requestId("r5", 41), "r5-000042");
  assert.equal(requestId("r5", 1_999_999), "r5-2000000");
  const { at } = mix([GET, POST]);
  assert.equal(new Set(Array.from({ length: 5000 }, (_, n) => at(n).id)).size, 5000);
});

test("templates are chosen by their weight", () => {
  const { at } = mix([GET, POST]);
  const posts = Array.from({ length: 20_000 }, (_, n) => at(n)).filter((one) => one.method === "POST").length;
  assert.ok(Math.abs(posts / 20_000 - 0.75) < 0.02, `${posts} POSTs`);
});

test("what the n-th request is depends on the seed and n alone", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 40 }), fc.integer({ min: 0, max: 1e7 }), (seed, n) => {
      assert.deepEqual(mix([GET, POST], { seed }).at(n), mix([GET, POST], { seed }).at(n));
      assert.equal(mix([GET, POST], { seed }).wire(n), mix([GET, POST], { seed }).wire(n));
    }),
  );
});

test("on the wire a request has its id, its key and the length of its body", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2e6 }), (n) => {
      const all = mix([GET, POST]);
      const { id, method, path } = all.at(n);
      const [head = "", body = ""] = all.wire(n).split("\r\n\r\n");
      assert.ok(head.startsWith(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:80\r\n`));
      assert.match(head, new RegExp(`\r\nx-request-id: ${id}(\r\n|$)`));
      assert.equal(head.includes(`idempotency-key: ${id}`), method === "POST");
      assert.equal(head.includes("connection: close"), false);
      if (method === "POST") {
        assert.equal(body, `{"id":"${id}","ä":"${id}"}`);
        assert.match(head, new RegExp(`content-length: ${Buffer.byteLength(body)}$`));
      } else {
        assert.equal(body, "");
      }
    }),
  );
});

test("without keep-alive a request says that its connection is closed afterwards", () => {
  assert.match(mix([GET], { keepAlive: false }).wire(0), /\r\nconnection: close\r\n/);
});

test("a POST without a body has a length of 0, and a prefix of one's own is used", () => {
  const { wire, at } = mix([{ ...POST, body: null }], { idPrefix: "run-2" });
  assert.match(wire(0), /\r\ncontent-length: 0\r\n\r\n$/);
  assert.equal(at(0).id, "run-2-000001");
});
