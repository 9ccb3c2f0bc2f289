// What the lab's own client makes of uploads, digests and event streams.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { EventCounter } from "../../src/load/event-counter.ts";
import type { Exchange } from "../../src/load/exchange.ts";
import { createHttpClient } from "../../src/load/http-client.ts";
import type { RequestTemplate } from "../../src/load/load.ts";
import { createMix } from "../../src/load/mix.ts";
import { rawServer } from "./raw-server.ts";

type Serve = Parameters<typeof rawServer>[0];

/** One request of this template; its fate. */
async function send(template: Partial<RequestTemplate>, serve: Serve): Promise<Exchange> {
  const server = await rawServer(serve);
  const { port } = server;
  const mix = createMix({
    host: "127.0.0.1",
    port,
    seed: 1,
    keepAlive: true,
    mix: [{ method: "GET", path: "/", body: null, weight: 1, ...template }],
  });
  const ended = new Promise<Exchange>((resolve) => {
    const client = createHttpClient({
      host: "127.0.0.1",
      port,
      keepAlive: true,
      timeoutMs: 1500,
      now: () => performance.now(),
      onEnd: (exchange) => {
        resolve(exchange);
        client.close();
      },
    });
    client.send(0, performance.now(), mix.wire(0), mix.outgoing(0));
  });
  const exchange = await ended;
  await server.close();
  return exchange;
}

const digest = (text: string): string => `sha-256=:${createHash("sha256").update(text).digest("base64")}:`;

test("an upload is written in its pieces and counted, and ends in its own framing", async () => {
  for (const framing of ["length", "chunked"] as const) {
    let received = "";
    const exchange = await send(
      { method: "POST", upload: { bytes: 1000, framing, pieceBytes: 300, everyMs: 5 } },
      (socket, _n, chunk) => {
        received += chunk;
        if (
          framing === "chunked"
            ? received.endsWith("0\r\n\r\n")
            : received.split("\r\n\r\n")[1]?.length === 1000
        ) {
          socket.write("HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n");
        }
      },
    );
    assert.equal(exchange.status, 201);
    const [head = "", ...rest] = received.split("\r\n\r\n");
    const body = rest.join("\r\n\r\n");
    if (framing === "length") {
      assert.match(head, /content-length: 1000/);
      assert.equal(/content-digest: (\S+)/.exec(head)?.[1], digest(body));
      assert.equal(exchange.uploaded, 1000);
    } else {
      assert.match(head, /transfer-encoding: chunked/);
      assert.ok(exchange.uploaded > 1000, "with the framing around its pieces");
    }
    assert.ok(!Number.isNaN(exchange.writtenMs));
  }
});

test("an answer in the middle of an upload is an answer, and its connection is not used again", async () => {
  let answered = false;
  const exchange = await send(
    { method: "POST", upload: { bytes: 100_000, framing: "length", pieceBytes: 1000, everyMs: 20 } },
    (socket) => {
      if (!answered) {
        answered = true;
        socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n");
      }
    },
  );
  assert.equal(exchange.status, 413);
  assert.equal(exchange.error, null);
  assert.ok(exchange.uploaded < 100_000);
  assert.ok(Number.isNaN(exchange.writtenMs));
});

test("a body that is the one of its digest is good, another one is not: by length, and by a trailer behind chunks", async () => {
  const byLength = (promise: string) => (): string =>
    `HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-digest: ${digest(promise)}\r\n\r\nhello`;
  const byTrailer = (promise: string) => (): string =>
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: Content-Digest\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\nContent-Digest: ${digest(promise)}\r\n\r\n`;
  for (const answer of [byLength, byTrailer]) {
    const good = await send({}, (socket) => void socket.write(answer("hello")()));
    assert.deepEqual([good.stage, good.error, good.got], [null, null, 5]);
    const bad = await send({}, (socket) => void socket.write(answer("hullo")()));
    assert.deepEqual([bad.stage, bad.error, bad.status], ["body", "DIGEST", 200]);
  }
});

const EVENTS = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

test("a stream of events is held open for its time, then left, and its events are counted", async () => {
  const exchange = await send({ eventsForMs: 400 }, (socket) => {
    socket.write(EVENTS + chunk("id: 1\ndata: a\n\n") + chunk("id: 2\nda"));
    setTimeout(() => socket.write(chunk("ta: b\n\n: comment\n\n")), 100);
  });
  assert.deepEqual(
    [exchange.stage, exchange.error, exchange.events, exchange.closedFirst, exchange.status],
    [null, null, 2, "client", 200],
  );
});

test("a stream that the service ends is whole; one that is cut, or misses an event, is not", async () => {
  const ended = await send(
    { eventsForMs: 5000 },
    (socket) => void socket.write(`${EVENTS}${chunk("id: 1\ndata: a\n\n")}0\r\n\r\n`),
  );
  assert.deepEqual([ended.error, ended.events], [null, 1]);
  const cut = await send({ eventsForMs: 5000 }, (socket) => {
    socket.write(EVENTS + chunk("data: a\n\n"));
    setTimeout(() => socket.destroy(), 50);
  });
  assert.deepEqual([cut.stage, cut.error, cut.events], ["body", "EOF", 1]);
  const gap = await send(
    { eventsForMs: 5000 },
    (socket) => void socket.write(`${EVENTS}${chunk("id: 1\ndata: a\n\nid: 3\ndata: c\n\n")}0\r\n\r\n`),
  );
  assert.deepEqual([gap.stage, gap.error], ["body", "GAP"]);
});

test("an open stream is no late answer, and one without a head is", async () => {
  const open = await send(
    { eventsForMs: 2200 },
    (socket) => void socket.write(EVENTS + chunk("data: a\n\n")),
  );
  assert.deepEqual([open.error, open.closedFirst], [null, "client"]);
  const silent = await send({ eventsForMs: 5000 }, () => undefined);
  assert.deepEqual([silent.error, silent.stage], ["TIMEOUT", "wait"]);
});

test("events are counted however the bytes come", () => {
  const text = Buffer.from("id: 1\r\ndata: a\r\n\r\n: ping\n\nevent: x\ndata: b\n\nid: 5\n\n");
  for (const step of [1, 2, 3, 7, 100]) {
    const counter = new EventCounter();
    for (let at = 0; at < text.length; at += step) {
      counter.push(text, at, Math.min(text.length, at + step));
    }
    assert.deepEqual([counter.events, counter.gaps], [3, 1], `${step} bytes at a time`);
  }
});
