import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { test } from "node:test";
import { listenBeside } from "../../src/servers/beside.ts";

test("a listener stands before the app's as long as the app has one, and never alone", () => {
  const server = createServer();
  const order: string[] = [];
  const undo = listenBeside(server, "upgrade", () => order.push("ours"));
  assert.equal(server.listenerCount("upgrade"), 0);
  const first = (): unknown => order.push("first");
  const second = (): unknown => order.push("second");
  server.on("upgrade", first);
  server.on("upgrade", second);
  server.emit("upgrade");
  assert.deepEqual(order, ["ours", "first", "second"]);
  server.removeListener("upgrade", first);
  assert.equal(server.listenerCount("upgrade"), 2);
  server.removeListener("upgrade", second);
  assert.equal(server.listenerCount("upgrade"), 0);
  server.on("upgrade", first);
  assert.equal(server.listenerCount("upgrade"), 2, "it comes back with the app's next one");
  undo();
  assert.equal(server.listenerCount("upgrade"), 1);
});

test("an app's listener for 'request' that comes late sets up HTTP/2's request API once", () => {
  const server = createHttp2Server();
  listenBeside(server, "request", () => {});
  server.on("request", () => {});
  assert.equal(server.listenerCount("request"), 2);
  assert.equal(server.listenerCount("stream"), 1);
});
