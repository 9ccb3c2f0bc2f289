import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import test from "node:test";
import { encodeFrame, takeFrame } from "../src/web-socket.ts";
import { startService, until } from "./service.ts";

test("the probes of a hand-written build say alive and ready", async (t) => {
  const service = await startService(t, "naive");
  assert.deepEqual((await service.ask("GET", "/health")).json, { ok: true });
  assert.deepEqual((await service.ask("GET", "/ready")).json, { ready: true });
  assert.equal((await service.ask("GET", "/statez")).json["state"], "serving");
});

test("every answer names its copy, and the start line names build, port and store", async (t) => {
  const service = await startService(t, "naive");
  for (const path of ["/health", "/work?seconds=0", "/nowhere"]) {
    assert.equal((await service.ask("GET", path)).headers["x-lastcall-copy"], "test-copy");
  }
  const kind = process.getBuiltinModule("node:sqlite") === undefined ? "append-only file" : "node:sqlite";
  assert.equal(service.startLine, `orders: naive listening on 127.0.0.1:${service.port}, orders in ${kind}`);
});

test("work takes as long as it was asked to, also on a thread", async (t) => {
  const service = await startService(t, "bare");
  const { pid } = service.child;
  assert.deepEqual((await service.ask("GET", "/work?seconds=0.1")).json, { pid, slept: 0.1 });
  assert.deepEqual((await service.ask("GET", "/work")).json, { pid, slept: 0.3 });
  assert.deepEqual((await service.ask("GET", "/sync-work?seconds=0.2")).json, { pid, slept: 0.2 });
  assert.ok(service.eventNames().includes("sync work finished"));
  assert.deepEqual((await service.ask("GET", "/spin?ms=20")).json, { pid, spun: 20 });
});

test("an order is stored once, whatever is asked again", async (t) => {
  const service = await startService(t, "bare");
  const { pid } = service.child;
  const first = await service.ask("POST", "/orders", { id: "a-1", work: 0 });
  assert.equal(first.status, 201);
  assert.deepEqual(first.json, { id: "a-1", pid });
  const again = await service.ask("POST", "/orders", { id: "a-1", work: 0 });
  assert.equal(again.status, 409);
  assert.deepEqual(again.json, { id: "a-1", pid, duplicate: true });
  const both = await Promise.all([1, 2].map(() => service.ask("POST", "/orders", { id: "a-2", work: 0.05 })));
  assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([201, 409]));
  assert.deepEqual(service.orders(), ["a-1", "a-2"]);
  assert.deepEqual(service.executed(), ["a-1", "a-2"]);
});

test("with after, an order is committed before its answer", async (t) => {
  const service = await startService(t, "bare");
  const answer = service.ask("POST", "/orders?after=0.3", { id: "early" });
  await until(() => service.executed().length === 1);
  assert.deepEqual(service.orders(), ["early"]);
  assert.ok(!service.accessLog().some((line) => line.includes("FINISH")));
  assert.equal((await answer).status, 201);
});

test("what cannot be used is answered with a reason", async (t) => {
  const service = await startService(t, "bare");
  const cases = [
    ["POST", "/orders", "no json", 400],
    ["POST", "/orders", { id: 7 }, 400],
    ["POST", "/orders", { id: "x", work: "long" }, 400],
    ["POST", "/orders", { id: "x".repeat(70_000) }, 413],
    ["GET", "/work?seconds=-1", undefined, 400],
    ["POST", "/email/pigeon", undefined, 404],
    ["POST", "/work", undefined, 404],
  ] as const;
  for (const [method, path, body, status] of cases) {
    const answer = await service.ask(method, path, body);
    assert.equal(answer.status, status, path);
    assert.equal(typeof answer.json["error"], "string");
  }
  assert.deepEqual(service.orders(), []);
});

test("each kind of mail is promised first and sent later", async (t) => {
  const service = await startService(t, "bare");
  for (const mode of ["background", "task", "tracked"]) {
    const answer = await service.ask("POST", `/email/${mode}?tag=${mode}-1&delay=0.2`);
    assert.equal(answer.status, 202);
    assert.deepEqual(answer.json, { queued: `${mode}-1`, mode });
    assert.ok(!service.outboxTags().includes(`${mode}-1`));
  }
  await until(() => service.outboxTags().length === 3);
});

test("a stream proves its own wholeness in its last line", async (t) => {
  const service = await startService(t, "bare");
  const { body, headers } = await service.ask("GET", "/stream?chunks=4&interval=0.01");
  assert.equal(headers["transfer-encoding"], "chunked");
  const start = body.slice(0, body.indexOf("end "));
  const sum = createHash("sha256").update(start).digest("hex");
  assert.equal(body, `chunk 1\nchunk 2\nchunk 3\nchunk 4\nend 4 sha256=${sum}\n`);
});

test("server-sent events come until the client leaves", async (t) => {
  const service = await startService(t, "bare");
  const request = http.get({
    host: "127.0.0.1",
    port: service.port,
    path: "/events?interval=0.01",
    agent: false,
  });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  assert.equal(response.headers["content-type"], "text/event-stream");
  let text = "";
  for await (const chunk of response) {
    text += String(chunk);
    if (text.includes("data: 3\n\n")) break;
  }
  request.destroy();
  await until(() => service.accessLog().some((line) => / CUT #1 GET \/events/.test(line)));
});

test("held requests are answered after their release, which is answered first", async (t) => {
  const service = await startService(t, "bare");
  const order: string[] = [];
  const held = [1, 2].map(() => service.ask("GET", "/hold").then(() => order.push("held")));
  await service.started("/hold", 2);
  const release = await service.ask("POST", "/release");
  order.push("released");
  assert.deepEqual(release.json, { released: 2 });
  await Promise.all(held);
  const finished = (): readonly string[] => service.accessLog().filter((line) => line.includes("FINISH"));
  await until(() => finished().length === 3);
  assert.match(finished()[0] ?? "", /POST \/release/);
});

test("a WebSocket echoes text, answers pings and returns the close code", async (t) => {
  const service = await startService(t, "bare");
  const request = http.get({
    host: "127.0.0.1",
    port: service.port,
    path: "/ws",
    agent: false,
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      // Key and answer are the example of RFC 6455, section 1.3.
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    },
  });
  const [response, socket] = (await once(request, "upgrade")) as [
    http.IncomingMessage,
    import("node:net").Socket,
  ];
  assert.equal(response.headers["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  let received: Buffer = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => (received = Buffer.concat([received, bytes])));
  const text = masked(encodeFrame(1, Buffer.from("caffè ".repeat(40))));
  socket.write(text.subarray(0, 9));
  socket.write(Buffer.concat([text.subarray(9), masked(encodeFrame(9, Buffer.from("p")))]));
  socket.write(masked(encodeFrame(8, Buffer.from([0x03, 0xe9]))));
  await once(socket, "end");
  const frames: string[] = [];
  for (let taken = takeFrame(received); taken !== null; taken = takeFrame(taken.rest)) {
    const { opcode, payload } = taken.frame;
    frames.push(`${opcode} ${opcode === 8 ? payload.readUInt16BE() : payload.toString()}`);
  }
  assert.deepEqual(frames, [`1 ${"caffè ".repeat(40)}`, "10 p", "8 1001"]);
});

/** A frame as a client has to send it. */
function masked(frame: Buffer): Buffer {
  const mask = [7, 1, 9, 200];
  const start = (frame[1] ?? 0) === 126 ? 4 : 2;
  const body = frame.subarray(start).map((byte, n) => byte ^ (mask[n % 4] ?? 0));
  const head = Buffer.from(frame.subarray(0, start));
  head[1] = (head[1] ?? 0) | 0x80;
  return Buffer.concat([head, Buffer.from(mask), body]);
}
