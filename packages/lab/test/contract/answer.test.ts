import assert from "node:assert/strict";
import { test } from "node:test";
import { parseResponse } from "../../src/contract/answer.ts";

const parse = (text: string, method = "GET") => parseResponse(Buffer.from(text), method);

test("a response with a length is complete when its last byte has come, and leaves what follows", () => {
  const whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
  assert.equal(parse(whole.slice(0, 30)), null);
  assert.equal(parse(whole.slice(0, -1))?.complete, false);
  const parsed = parse(`${whole}HTTP/1.1 200 OK\r\n`);
  assert.equal(parsed?.complete, true);
  assert.equal(parsed.body, "hello");
  assert.equal(parsed.bytes, whole.length);
  assert.equal(parsed.headers["connection"], "close");
});

test("what is no status line is no response", () => {
  for (const text of ["hello there\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/2 200\r\n\r\n", "\r\n\r\n"]) {
    assert.equal(parse(text), null, JSON.stringify(text));
  }
  assert.equal(parse("HTTP/1.1 204\r\n\r\n")?.status, 204);
});

test("a chunked response is complete only with its last chunk", () => {
  const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  assert.equal(parse(`${head}5\r\nhello\r\n`)?.complete, false);
  assert.equal(parse(`${head}5\r\nhel`)?.body, "hel");
  assert.equal(parse(`${head}5\r\nhello\r\n0\r\n`)?.complete, false);
  const parsed = parse(`${head}5\r\nhello\r\n1\r\n!\r\n0\r\n\r\nHTTP`);
  assert.equal(parsed?.complete, true);
  assert.equal(parsed.body, "hello!");
  assert.equal(parsed.bytes, `${head}5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n`.length);
});

test("a body that lasts until the close is never complete by itself", () => {
  const parsed = parse("HTTP/1.0 200 OK\r\n\r\nhello");
  assert.equal(parsed?.framing, "until close");
  assert.equal(parsed.complete, false);
});

test("interim responses are stepped over, and HEAD and 204 have no body", () => {
  const parsed = parse("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");
  assert.equal(parsed?.status, 204);
  assert.equal(parsed.complete, true);
  assert.equal(parse("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "HEAD")?.complete, true);
});
