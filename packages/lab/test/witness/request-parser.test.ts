import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestParser } from "../../src/witness/request-parser.ts";

function follow(text: string, step: number): { readonly seen: readonly string[]; readonly lost: boolean } {
  const seen: string[] = [];
  const parser = new RequestParser({
    head: ({ method, id }) => void seen.push(`${method} ${id ?? "-"}`),
    end: () => void seen.push("end"),
  });
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += step) {
    parser.push(bytes.subarray(at, at + step));
  }
  return { seen, lost: parser.lost };
}

const THREE = [
  "GET /a HTTP/1.1\r\nHost: x\r\nX-Request-Id: one\r\n\r\n",
  "POST /b HTTP/1.1\r\nhost: x\r\nx-request-id: two\r\ncontent-length: 5\r\n\r\nhe\r\n\r",
  "POST /c HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n4\r\nGET \r\n0\r\n\r\n",
  "GET /d HTTP/1.1\r\nx-request-id: four\r\n\r\n",
].join("");

test("requests are told apart whatever the pieces in which they come", () => {
  const expected = ["GET one", "end", "POST two", "end", "POST -", "end", "GET four", "end"];
  for (const step of [1, 2, 3, 7, 64, 10_000]) {
    assert.deepEqual(follow(THREE, step), { seen: expected, lost: false }, `${step} bytes at a time`);
  }
});

test("a body that has not come whole has not ended", () => {
  const text = "POST / HTTP/1.1\r\nx-request-id: a\r\ncontent-length: 10\r\n\r\n12345";
  assert.deepEqual(follow(text, 9).seen, ["POST a"]);
});

test("what is no HTTP/1 request, and an upgrade, is followed no further", () => {
  assert.equal(follow("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 50).lost, true);
  assert.equal(follow("GET / HTTP/1.1\r\nupgrade: websocket\r\n\r\n", 50).lost, true);
  assert.equal(follow(`GET / HTTP/1.1\r\n${"a: b\r\n".repeat(20_000)}`, 5000).lost, true);
});
