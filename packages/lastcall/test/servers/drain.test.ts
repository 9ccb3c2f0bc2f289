import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { dial, httpServer, pause, rig, untilRefused, type Wire } from "./rig.ts";

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
/** Longer than a busy machine needs for a few requests; the drain ends before it where nothing is open. */
const LINGER = { lingerMs: 1500 };

/** A connection that has been used once and is kept alive. */
async function kept(port: number): Promise<Wire> {
  const wire = await dial(port);
  wire.send(GET);
  await wire.until(/served/);
  return wire;
}

test("A5 after the listener has closed, idle connections are served once more within the window, and told", async () => {
  const server = httpServer("plain", (_, response) => response.end("served"));
  const { port, stop, record } = await rig(server, LINGER);
  const wires = await Promise.all([kept(port), kept(port), kept(port)]);
  stop();
  await untilRefused(port);
  for (const wire of wires) {
    wire.send(GET);
    assert.match(await wire.until(/served[^]*served/), /200 OK[^]*Connection: close[^]*served$/);
    assert.equal(await wire.ended, "fin");
  }
  const { requests, phases } = await record;
  assert.equal(requests.refused["503"], 0);
  assert.ok(phases.totalMs < 1500, "the window is not sat out when nobody is left");
});

test("B8 a connection that never sent a byte is served within the window, and ended after it", async () => {
  const server = httpServer("plain", (_, response) => response.end("served"));
  const { port, stop, record } = await rig(server, {
    lingerMs: 700,
    gracefulTimeoutMs: 20_000,
    gracePeriodMs: 60_000,
  });
  const first = await dial(port);
  const silent = await dial(port);
  await kept(port);
  stop();
  await untilRefused(port);
  first.send(GET);
  await first.until(/200 OK[^]*served/);
  assert.equal(await silent.ended, "fin");
  const { phases, outcome } = await record;
  assert.equal(outcome, "drained");
  assert.ok(phases.totalMs >= 690 && phases.totalMs < 10_000, `it took ${phases.totalMs} ms`);
});

test("E4 after the window a request is refused with a whole, clear no", async () => {
  let open = (): void => {};
  const server = httpServer("plain", (request, response) => {
    if (request.url === "/slow") {
      open = () => response.end("slow");
    } else {
      response.end("served");
    }
  });
  const { port, stop, record } = await rig(server, { lingerMs: 1, admission: "respond" });
  const slow = await dial(port);
  slow.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  const wire = await kept(port);
  stop();
  wire.send(GET);
  const said = await wire.until(/draining/);
  assert.match(said, /HTTP\/1\.1 503 Service Unavailable\r\n/);
  for (const header of [/Connection: close/, /Retry-After: 1/, /Content-Type: application\/json/]) {
    assert.match(said, header);
  }
  open();
  await slow.until(/slow/);
  assert.equal((await record).requests.refused["503"], 1);
});

test("A5 in respond mode an old connection that asks within the window is refused with a whole 503, also when no work is left", async () => {
  const server = httpServer("plain", (_, response) => response.end("served"));
  const { port, stop, record } = await rig(server, { lingerMs: 1500, admission: "respond" });
  const wires = await Promise.all([kept(port), kept(port)]);
  stop();
  await untilRefused(port);
  for (const wire of wires) {
    wire.send(GET);
    assert.match(await wire.until(/draining/), /HTTP\/1\.1 503 [^]*\r\nConnection: close\r\n/);
  }
  const { requests, phases } = await record;
  assert.equal(requests.refused["503"], 2);
  assert.ok(phases.totalMs < 1500, "the window is not sat out when nobody is left");
});

test("B8 in respond mode a byte-less connection that comes while the accept queue is emptied holds nothing", async () => {
  let open = (): void => {};
  const server = httpServer("plain", (_, response) => {
    open = () => response.end("slow");
  });
  const { port, stop, record } = await rig(server, { lingerMs: 100, admission: "respond" });
  const slow = await dial(port);
  slow.send(GET);
  await once(server, "request");
  stop();
  open();
  await slow.until(/slow/);
  const silent = await dial(port);
  await untilRefused(port);
  assert.equal(await silent.ended, "fin");
  const { phases, outcome } = await record;
  assert.equal(outcome, "drained");
  assert.ok(phases.totalMs < 5000, `it was held to the deadline, ${phases.totalMs} ms`);
});

test("B8 a byte-less connection of a server that is attached after the window holds nothing", async () => {
  let open = (): void => {};
  const server = httpServer("plain", (_, response) => {
    open = () => response.end("slow");
  });
  const late = createServer();
  late.listen(0, "127.0.0.1");
  await once(late, "listening");
  const { life, port, stop, record } = await rig(server, { lingerMs: 1 });
  const slow = await dial(port);
  slow.send(GET);
  await once(server, "request");
  const idle = await dial(port);
  stop();
  assert.equal(await idle.ended, "fin");
  life.http(late);
  const { port: latePort } = late.address() as AddressInfo;
  // The first keep its queue from being closed; the last come when its idle ones have been ended.
  const silent: Wire[] = [];
  for (let n = 0; n < 8; n += 1) {
    silent.push(await dial(latePort));
    await pause(5);
  }
  await Promise.all(silent.map(({ ended }) => ended));
  assert.equal(life.state, "draining", "they were not ended by the deadline");
  open();
  await slow.until(/slow/);
  assert.equal((await record).outcome, "drained");
});

test("A2 in respond mode a probe that is first asked for after the gate is answered, and refused as no work", async () => {
  let open = (): void => {};
  const server = httpServer("plain", (request, response) => {
    if (!mine.life.probes(request, response)) {
      open = () => response.end("slow");
    }
  });
  const mine = await rig(server, { lingerMs: 1, admission: "respond" });
  // As an app does when it mounts them, before anybody asks.
  assert.equal(typeof mine.life.probes, "function");
  const slow = await dial(mine.port);
  slow.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(server, "request");
  mine.stop();
  const wire = await dial(mine.port);
  wire.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
  assert.match(await wire.until(/true/), /^HTTP\/1\.1 200 /);
  open();
  await slow.until(/slow/);
  assert.equal((await mine.record).requests.refused["503"], 0);
});

test("A5 a head that is completed after the window is refused, and counted as refused", async () => {
  let open = (): void => {};
  let ran = 0;
  const server = httpServer("plain", (_, response) => {
    ran += 1;
    open = () => response.end("slow");
  });
  const { port, stop, record } = await rig(server, { lingerMs: 1 });
  const slow = await dial(port);
  slow.send(GET);
  await once(server, "request");
  const half = await dial(port);
  half.send(GET.slice(0, 20));
  const silent = await dial(port);
  stop();
  // The window is shorter than closing the listener takes.
  await untilRefused(port);
  assert.equal(await silent.ended, "fin");
  half.send(GET.slice(20));
  assert.match(await half.until(/draining/), /^HTTP\/1\.1 503 /);
  open();
  await slow.until(/slow/);
  const { requests } = await record;
  assert.deepEqual([ran, requests.accepted, requests.refused["503"]], [1, 1, 1]);
});

test("A5 whoever comes while the accept queue is emptied has the whole linger window, too", async () => {
  const server = httpServer("plain", (_, response) => response.end("served"));
  const { port, stop, record } = await rig(server, { lingerMs: 600 });
  const old = await dial(port);
  stop();
  const stoppedAt = performance.now();
  // The queue is given 250 ms from now on, as somebody has come.
  const late = await dial(port);
  await untilRefused(port);
  late.send(GET);
  assert.match(await late.until(/served/), /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
  assert.equal(await old.ended, "fin");
  const tookMs = performance.now() - stoppedAt;
  assert.ok(tookMs >= 800, `the window was over ${tookMs} ms after the gate`);
  assert.equal((await record).outcome, "drained");
});

test("B11 every listener closes at the gate, and one that was attached late or listens late does too", async () => {
  let open = (): void => {};
  const server = httpServer("plain", (_, response) => {
    open = () => response.end("slow");
  });
  const app = httpServer("plain", (_, response) => response.end("served"));
  const late = createServer();
  const unborn = createServer();
  const { life, port, stop, record } = await rig(server, LINGER);
  life.http(app).http(unborn);
  app.listen(0, "127.0.0.1");
  late.listen(0, "127.0.0.1");
  await Promise.all([once(app, "listening"), once(late, "listening")]);
  const ports = [app, late].map((one) => (one.address() as AddressInfo).port);
  const slow = await dial(port);
  slow.send(GET);
  await once(server, "request");
  stop();
  life.http(late);
  unborn.listen(0, "127.0.0.1");
  await once(unborn, "listening");
  ports.push((unborn.address() as AddressInfo).port);
  await Promise.all([port, ...ports].map(untilRefused));
  open();
  await slow.until(/slow/);
  assert.equal((await record).outcome, "drained");
});

test("C1 what has no head at the deadline gets our 503 and nothing that the app had prepared", async () => {
  const server = httpServer("plain", (_, response) => {
    response.setHeader("Content-Length", "5");
    response.setHeader("Content-Encoding", "gzip");
    response.setHeader("Set-Cookie", "a=b");
  });
  const { port, stop, record } = await rig(server, { gracefulTimeoutMs: 300 });
  const wire = await dial(port);
  wire.send(GET);
  await once(server, "request");
  stop();
  const said = await wire.until(/\{"error":"draining"\}$/);
  assert.match(said, /^HTTP\/1\.1 503 /);
  assert.doesNotMatch(said, /gzip|Set-Cookie|Content-Length: 5/i);
  const { unfinished, exitCode } = await record;
  assert.deepEqual(
    unfinished.map(({ route, cut }) => [route, cut]),
    [["GET /", "503"]],
  );
  assert.equal(exitCode, 3);
});

test("a handler that asks is told that its client has gone away", async () => {
  let life: Awaited<ReturnType<typeof rig>>["life"] | null = null;
  let tell = (_reason: unknown): void => {};
  const told = new Promise<unknown>((resolve) => {
    tell = resolve;
  });
  const server = httpServer("plain", (request) => {
    const signal = life?.requestSignal(request);
    signal?.addEventListener("abort", () => tell(signal.reason));
  });
  const started = await rig(server);
  life = started.life;
  const wire = await dial(started.port);
  wire.send(GET);
  await once(server, "request");
  wire.socket.destroy();
  assert.match(String(await told), /client has gone away/);
  started.stop();
  const { requests } = await started.record;
  assert.deepEqual([requests.completed, requests.clientGone], [1, 1]);
});
