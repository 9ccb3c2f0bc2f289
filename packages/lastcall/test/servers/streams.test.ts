import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { test } from "node:test";
import type { Lifecycle, StreamPolicy } from "../../src/index.ts";
import { Http2Client } from "./http2-client.ts";
import { BOTH, dial, httpServer, pause, rig, TIMES, type Over } from "./rig.ts";

const POLICIES: Readonly<Record<string, StreamPolicy>> = {
  "/drain": "end-at-drain",
  "/gate": "end-at-gate",
  "/keep": "keep-until-deadline",
};

/** An event every 20 ms until the lifecycle says that it is over. */
function events(life: Lifecycle, response: ServerResponse, policy: StreamPolicy): void {
  const over = life.stream(response, policy, "event: end\n\n");
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write("data: first\n\n");
  const timer = setInterval(() => response.write("data: more\n\n"), 20);
  over.addEventListener("abort", () => clearInterval(timer));
}

async function eventService(over: Over, options: Parameters<typeof rig>[1]): ReturnType<typeof rig> {
  const server = httpServer(over, (request, response) => {
    events(started.life, response, POLICIES[request.url ?? ""] ?? "end-at-drain");
  });
  const started = await rig(server, options);
  return started;
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
}

/** An event stream that ended as it should: its last words, and the chunk that says that there are no more. */
const WHOLE = /event: end\n\n\r\n0\r\n\r\n$/;

for (const over of BOTH) {
  test(`F3 each stream ends in order at the time of its policy: t0, the gate, or before the deadline (${over})`, async () => {
    const { port, stop, record } = await eventService(over, { drainDelayMs: 900, gracefulTimeoutMs: 2000 });
    const clients = await Promise.all(Object.keys(POLICIES).map(() => dial(port, over)));
    Object.keys(POLICIES).forEach((path, at) => clients[at]?.send(get(path)));
    await Promise.all(clients.map((client) => client.until(/first/)));
    const begun = performance.now();
    stop();
    const ends = await Promise.all(
      clients.map(async (client) => {
        await client.until(WHOLE);
        return performance.now() - begun;
      }),
    );
    const [drain = 0, gate = 0, keep = 0] = ends;
    assert.ok(drain < 750, `t0: ${drain}`);
    assert.ok(gate >= 850 && gate < 2300, `the gate: ${gate}`);
    assert.ok(keep >= 2400 && keep < 4000, `before the deadline: ${keep}`);
    const { requests, outcome } = await record;
    assert.deepEqual([requests.completed, requests.unfinished, outcome], [3, 0, "drained"]);
  });
}

for (const over of BOTH) {
  test(`F3 a long poll is answered at the stop signal with what there is, whole and told to close (${over})`, async () => {
    const server = httpServer(over, (_, response) => {
      started.life.stream(response, "end-at-drain", "[]");
    });
    const started = await rig(server, { drainDelayMs: 600 });
    const client = await dial(started.port, over);
    client.send(get("/poll"));
    await once(server, "request");
    started.stop();
    await client.until(/^HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n[^]*\[\]$/i);
    assert.match(client.text(), /content-length: 2\r\n/i);
    assert.equal(started.life.state, "lame-duck");
    assert.equal((await started.record).requests.completed, 1);
  });

  test(`F3 an app ends its streams by hand on life.signal, with their terminating chunk (${over})`, async () => {
    const server = httpServer(over, (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: first\n\n");
      started.life.signal.addEventListener("abort", () => response.end("event: end\n\n"));
    });
    const started = await rig(server, { drainDelayMs: 600 });
    const client = await dial(started.port, over);
    client.send(get("/events"));
    await client.until(/first/);
    started.stop();
    await client.until(WHOLE);
    assert.equal(started.life.state, "lame-duck");
    assert.equal((await started.record).outcome, "drained");
  });
}

test("F3 a client that comes back to the leaving copy is kept until the gate, so that it does not turn in circles", async () => {
  const { port, stop, record } = await eventService("plain", { drainDelayMs: 900 });
  stop();
  await pause(100);
  const client = await dial(port);
  client.send(get("/drain"));
  await client.until(/first/);
  await pause(400);
  assert.doesNotMatch(client.text(), /event: end/);
  await client.until(WHOLE);
  assert.equal((await record).outcome, "drained");
});

test("F3 where nobody was told, a stream ends only when the listener has closed", async () => {
  const { port, stop, reaches, record } = await eventService("plain", {
    drainDelayMs: 500,
    leaveOrder: "listener-first",
  });
  const client = await dial(port);
  client.send(get("/drain"));
  await client.until(/first/);
  stop();
  await reaches("draining");
  assert.doesNotMatch(client.text(), /event: end/);
  await client.until(WHOLE);
  assert.equal((await record).outcome, "drained");
});

test("F3 a client that leaves aborts the signal of its stream", async () => {
  const server = httpServer("plain", (_, response) => {
    response.write("first");
    life.stream(response, "keep-until-deadline").addEventListener("abort", () => server.emit("left"));
  });
  const { life, port, stop, record } = await rig(server);
  const client = await dial(port);
  client.send(get("/"));
  await client.until(/first/);
  const left = once(server, "left");
  client.socket.destroy();
  await left;
  stop();
  assert.equal((await record).requests.clientGone, 1);
});

test("F3 a stream over HTTP/2 ends in the same way", async () => {
  const server = createHttp2Server((_, response) => {
    response.write("first");
    life.stream(response, "end-at-drain", ", last");
  });
  const { life, port, stop, record } = await rig(server);
  const client = await Http2Client.connect(port);
  const stream = client.request("/");
  await client.until(() => stream.body === "first");
  stop();
  await client.closed;
  assert.deepEqual([stream.end, stream.body], ["whole", "first, last"]);
  assert.equal((await record).outcome, "drained");
});

test("A4 announce 'spread': the connections are told one by one, and all that are answered in the last third have been", async () => {
  const delay = 2400;
  const server = httpServer("plain", (_, response) => response.end("ok"));
  const { port, stop, record } = await rig(server, { ...TIMES, drainDelayMs: delay, announce: "spread" });
  const clients = await Promise.all(Array.from({ length: 60 }, () => dial(port)));
  const begun = performance.now();
  stop();
  const told = await Promise.all(
    clients.map(async (client) => {
      for (;;) {
        const before = client.text().length;
        client.send(get("/"));
        await client.until(new RegExp(`^[^]{${before},}\r\n\r\nok$`));
        const at = performance.now() - begun;
        if (/connection: close/i.test(client.text())) {
          return at;
        }
        assert.ok(at < (delay * 2) / 3 + 300, `answered at ${at} without being told`);
        await pause(50);
      }
    }),
  );
  const window = (delay * 2) / 3;
  const inThird = [0, 0, 0];
  told.forEach((at) => {
    const third = Math.min(2, Math.floor((at / window) * 3));
    inThird[third] = (inThird[third] ?? 0) + 1;
  });
  // 20 are expected in each; a busy machine sees some of them late.
  assert.ok(
    inThird.every((count) => count >= 4),
    `told in the thirds of the window: ${inThird.join(", ")}`,
  );
  await record;
});

test("A4 announce 'spread' ends with the delay: a second signal has everybody told", async () => {
  const server = httpServer("plain", (_, response) => response.end("ok"));
  const { port, stop, reaches, record } = await rig(server, {
    drainDelayMs: 9000,
    gracePeriodMs: 40_000,
    announce: "spread",
    lingerMs: 1000,
  });
  const client = await dial(port);
  stop();
  await pause(300);
  stop();
  await reaches("draining");
  client.send(get("/"));
  await client.until(/connection: close/i);
  await record;
});

test("F2 announce 'spread' has HTTP/2 sessions leave one by one during the delay", async () => {
  const server = createHttp2Server((_, response) => response.end("ok"));
  const { port, stop, record } = await rig(server, { drainDelayMs: 1800, announce: "spread" });
  const clients = await Promise.all(Array.from({ length: 20 }, () => Http2Client.connect(port)));
  for (const client of clients) {
    const first = client.request("/");
    await client.until(() => first.end === "whole");
  }
  const begun = performance.now();
  stop();
  const closed = await Promise.all(
    clients.map(({ closed: end }) => end.then(() => performance.now() - begun)),
  );
  assert.ok(closed.filter((at) => at < 700).length >= 3, String(closed));
  assert.ok(closed.filter((at) => at > 700 && at < 1800).length >= 3, String(closed));
  assert.equal((await record).connections?.http2Sessions, 20);
});
