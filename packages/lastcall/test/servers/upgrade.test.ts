import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { BOTH, dial, httpServer, pause, rig, type Over, type Wire } from "./rig.ts";

const UPGRADE: string = [
  "GET /socket HTTP/1.1",
  "Host: x",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Version: 13",
  "",
  "",
].join("\r\n");

const SWITCH = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

/** What a client has to see: 1001, "restart", in a frame of its own. */
const GOING_AWAY = "\x88\x09\x03\xe9restart";

/** What a client answers: the same code, masked with zeros. */
const ANSWER: Buffer = Buffer.from("88820000000003e9", "hex");

async function webSockets(
  over: Over,
  options: Parameters<typeof rig>[1],
  count: number,
): Promise<Awaited<ReturnType<typeof rig>> & { clients: Wire[]; sockets: Socket[] }> {
  const server = httpServer(over, (_, response) => response.end("plain"));
  const sockets: Socket[] = [];
  server.on("upgrade", (_, socket: Socket) => {
    socket.on("error", () => socket.destroy());
    // As libraries do: the client's close frame, its last words, ends the connection.
    socket.on("data", (bytes: Buffer) => {
      if ((bytes[0] ?? 0) === 0x88) {
        socket.end();
      }
    });
    socket.write(SWITCH);
    sockets.push(socket);
  });
  const started = await rig(server, options);
  const clients = await Promise.all(Array.from({ length: count }, () => dial(started.port, over)));
  clients.forEach((client) => client.send(UPGRADE));
  await Promise.all(clients.map((client) => client.until(/\r\n\r\n/)));
  return { ...started, clients, sockets };
}

/** How many of the times lie in the fullest of the windows. */
function peak(times: readonly number[], windowMs: number): number {
  const counts = new Map<number, number>();
  for (const at of times) {
    const slot = Math.floor(at / windowMs);
    counts.set(slot, (counts.get(slot) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

/** Answers the close frame, as every client does. */
async function answerClose(client: Wire): Promise<number> {
  await client.until(/restart/);
  const at = performance.now();
  client.send(ANSWER);
  await client.ended;
  return at;
}

for (const over of BOTH) {
  test(`F1 WebSockets get a close frame spread over the drain delay, answer it and are gone (${over})`, async (t) => {
    // LASTCALL_TEST_SOCKETS=4000 LASTCALL_TEST_DELAY=5000 is how docs/protocols.md was measured.
    const count = Number(process.env["LASTCALL_TEST_SOCKETS"] ?? 40);
    const delay = Number(process.env["LASTCALL_TEST_DELAY"] ?? 1500);
    const { clients, stop, record } = await webSockets(over, { drainDelayMs: delay }, count);
    const begun = performance.now();
    stop();
    const times = (await Promise.all(clients.map(answerClose))).map((at) => at - begun);
    for (const client of clients) {
      assert.ok(client.text().endsWith(`\r\n\r\n${GOING_AWAY}`));
    }
    const early = times.filter((at) => at < delay / 3).length;
    const late = times.filter((at) => at > delay / 3 && at < delay).length;
    // A machine that stands still for a while moves the rest to what is left of the window.
    assert.ok(early >= count / 20 && late >= count / 4, `${early} in the first third, ${late} in the rest`);
    t.diagnostic(`most in 100 ms: ${peak(times, 100)} of ${count} over ${Math.round((delay * 2) / 3)} ms`);
    const { connections, outcome, phases } = await record;
    assert.deepEqual(connections, { webSockets: count, webSocketsCut: 0 });
    assert.equal(outcome, "drained");
    assert.ok(phases.totalMs < delay + 1500, String(phases.totalMs));
  });

  test(`F1 once the gate is closed a new upgrade gets 503, and a client that leaves then harms nobody (${over})`, async () => {
    const { port, stop, reaches, record, life } = await webSockets(over, { lingerMs: 800 }, 0);
    void life.task("holds the drain", () => pause(900));
    const [late, leaver] = await Promise.all([dial(port, over), dial(port, over)]);
    stop();
    await reaches("draining");
    late.send(UPGRADE);
    leaver.send(UPGRADE);
    leaver.socket.destroy();
    await late.until(/^HTTP\/1.1 503[^]*connection: close[^]*draining/i);
    assert.equal(await late.ended, "fin");
    const { requests, outcome, errors } = await record;
    assert.ok(requests.refused["503"] >= 1);
    assert.deepEqual([outcome, errors], ["drained", []]);
  });
}

test("F1 a close frame is never put into another frame, nor into a message while there is time", async () => {
  const { clients, sockets, stop, reaches, record } = await webSockets("plain", { lingerMs: 0 }, 2);
  const [halfFrame, halfMessage] = clients as [Wire, Wire];
  const [first, second] = sockets as [Socket, Socket];
  // A binary frame of 4 bytes, of which two come later; and the first of two fragments.
  first.write(Buffer.from([0x82, 4, 1, 2]));
  second.write(Buffer.from([0x01, 1, 0x61]));
  stop();
  await reaches("draining");
  await pause(300);
  assert.ok(!halfFrame.text().includes("restart") && !halfMessage.text().includes("restart"));
  first.write(Buffer.from([3, 4]));
  second.write(Buffer.from([0x80, 1, 0x62]));
  await Promise.all([answerClose(halfFrame), answerClose(halfMessage)]);
  assert.ok(halfFrame.text().endsWith(`\x82\x04\x01\x02\x03\x04${GOING_AWAY}`));
  assert.ok(halfMessage.text().endsWith(`\x01\x01a\x80\x01b${GOING_AWAY}`));
  assert.deepEqual((await record).connections, { webSockets: 2, webSocketsCut: 0 });
});

test("F1 nothing follows the close frame, and the app hears that its writes are done", async () => {
  const { clients, sockets, stop, record } = await webSockets("plain", {}, 1);
  const [client] = clients as [Wire];
  const [socket] = sockets as [Socket];
  stop();
  await client.until(/restart/);
  await new Promise((resolve) => {
    socket.write(Buffer.from([0x81, 1, 0x61]), resolve);
  });
  await answerClose(client);
  assert.ok(client.text().endsWith(GOING_AWAY));
  await record;
});

test("F1 a client that does not answer is waited for a second, not to the deadline", async () => {
  const { clients, stop, record } = await webSockets("plain", {}, 1);
  stop();
  await clients[0]?.ended;
  const { phases, outcome } = await record;
  assert.equal(outcome, "drained");
  assert.ok(phases.totalMs >= 900 && phases.totalMs < 3500, String(phases.totalMs));
});

test("F4 upgraded and CONNECT connections of unknown protocols live to the deadline and are reset there", async () => {
  const server = httpServer("plain", (_, response) => response.end());
  for (const event of ["upgrade", "connect"]) {
    server.on(event, (_, socket: Socket) => {
      socket.on("error", () => {});
      socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n");
      socket.on("data", (bytes) => socket.write(bytes));
    });
  }
  const { port, stop, reaches, record } = await rig(server, { gracefulTimeoutMs: 1200 });
  const [upgraded, tunnel] = await Promise.all([dial(port), dial(port)]);
  upgraded.send("GET /raw HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n");
  tunnel.send("CONNECT example.net:443 HTTP/1.1\r\nHost: example.net\r\n\r\n");
  await Promise.all([upgraded.until(/101/), tunnel.until(/101/)]);
  stop();
  await reaches("draining");
  await pause(600);
  upgraded.send("still here");
  tunnel.send("still here");
  await Promise.all([upgraded.until(/still here/), tunnel.until(/still here/)]);
  assert.deepEqual(await Promise.all([upgraded.ended, tunnel.ended]), ["reset", "reset"]);
  const { connections, unfinished, phases, outcome } = await record;
  assert.deepEqual([connections, outcome], [{ tunnelsCut: 2 }, "incomplete"]);
  assert.deepEqual(unfinished.map(({ route }) => route).toSorted(), [
    "CONNECT example.net:443",
    "raw GET /raw",
  ]);
  assert.ok(phases.totalMs >= 1150, String(phases.totalMs));
});

test("an upgrade listener that goes away leaves none of ours behind", async () => {
  const server = httpServer("plain", (_, response) => response.end("plain"));
  const listener = (_: unknown, socket: Socket): void => void socket.end();
  server.on("upgrade", listener);
  const { port, stop, record } = await rig(server);
  assert.equal(server.listenerCount("upgrade"), 2);
  server.removeListener("upgrade", listener);
  assert.equal(server.listenerCount("upgrade"), 0);
  const client = await dial(port);
  client.send(UPGRADE);
  await client.until(/plain/);
  stop();
  await record;
});

test("F1 a WebSocket that comes during the drain delay is told before its end, too", async () => {
  const { port, stop, record } = await webSockets("plain", { drainDelayMs: 1200 }, 0);
  stop();
  await pause(200);
  const client = await dial(port);
  const answered = once(client.socket, "close");
  client.send(UPGRADE);
  await answerClose(client);
  await answered;
  const { phases, connections } = await record;
  assert.deepEqual(connections, { webSockets: 1, webSocketsCut: 0 });
  assert.ok(phases.totalMs < 2500, String(phases.totalMs));
});
