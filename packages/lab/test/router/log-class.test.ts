import assert from "node:assert/strict";
import { test } from "node:test";
import { classifyLogLine } from "../../src/router/log-class.ts";

const line = (level: string, text: string): string =>
  `2026/11/29 21:36:38 [${level}] 42#42: *7 ${text}, client: 127.0.0.1, server: , request: "GET /work HTTP/1.1", upstream: "http://127.0.0.1:9001/work"`;

test("each of nginx's words for a lost upstream has its class", () => {
  const classes = [
    "connect() failed (111: Connection refused) while connecting to upstream",
    "upstream prematurely closed connection while reading response header from upstream",
    "recv() failed (104: Connection reset by peer) while reading response header from upstream",
    "upstream timed out (110: Connection timed out) while reading response header from upstream",
    "no live upstreams while connecting to upstream",
    "something new",
  ].map((text) => classifyLogLine(line("error", text)));
  assert.deepEqual(classes, [
    "connect-refused",
    "upstream-closed",
    "reset",
    "timeout",
    "no-upstream",
    "other",
  ]);
});

test("what is no HTTP, and what the router itself has run out of, have classes of their own", () => {
  const classes = [
    "upstream sent no valid HTTP/1.0 header while reading response header from upstream",
    "upstream sent invalid header line while reading response header from upstream",
    "socket() failed (24: Too many open files) while connecting to upstream",
    "connect() to 127.0.0.1:9001 failed (99: Cannot assign requested address) while connecting to upstream",
    "512 worker_connections are not enough while connecting to upstream",
  ].map((text) => classifyLogLine(line("error", text)));
  assert.deepEqual(classes, ["no-http", "no-http", "router-limit", "router-limit", "router-limit"]);
});

test("notices, warnings and lines of no known form are no errors", () => {
  assert.equal(classifyLogLine(line("notice", "gracefully shutting down")), null);
  assert.equal(classifyLogLine(line("warn", "an upstream response is buffered to a temporary file")), null);
  assert.equal(classifyLogLine("hello"), null);
});
