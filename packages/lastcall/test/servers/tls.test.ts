import assert from "node:assert/strict";
import { constants, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createSecureServer } from "node:http2";
import { createServer, type ServerOptions, type Server } from "node:https";
import { connect as connectTcp, type Socket } from "node:net";
import { test } from "node:test";
import { connect, type ConnectionOptions, type SecureVersion, type TLSSocket } from "node:tls";
import { TEST_ONLY_CERTIFICATE } from "../fixtures/test-only-certificate.ts";
import { delayProxy } from "./delay-proxy.ts";
import { Http2Client } from "./http2-client.ts";
import { CERTIFIED, pause, rig, wire, type Wire } from "./rig.ts";

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

function secureServer(options: ServerOptions = {}): Server {
  return createServer({ ...CERTIFIED, ...options }, (_, response) => response.end("served"));
}

/** A TLS connection and the session that its server gave it. */
async function handshake(
  port: number,
  options: ConnectionOptions = {},
): Promise<{ readonly socket: TLSSocket; readonly client: Wire }> {
  const socket = connect({ host: "127.0.0.1", port, ca: TEST_ONLY_CERTIFICATE, ...options });
  await once(socket, "secureConnect");
  return { socket, client: wire(socket) };
}

async function asksOnce(port: number, options: ConnectionOptions): Promise<Buffer> {
  const socket = connect({ host: "127.0.0.1", port, ca: TEST_ONLY_CERTIFICATE, ...options });
  // Before the handshake is complete (TLS 1.2) or after it (1.3).
  const session = once(socket, "session");
  await once(socket, "secureConnect");
  const client = wire(socket);
  client.send(GET);
  await client.until(/served/);
  const [ticket] = (await session) as [Buffer];
  socket.destroy();
  return ticket;
}

for (const version of ["TLSv1.2", "TLSv1.3"] as const satisfies readonly SecureVersion[]) {
  test(`B8 a session is resumed in the drain delay, in a handshake of the linger window, and at the next copy (${version})`, async () => {
    const ticketKeys = randomBytes(48);
    const options = { maxVersion: version, host: "127.0.0.1", ca: TEST_ONLY_CERTIFICATE };
    const leaving = await rig(secureServer({ ticketKeys }), { drainDelayMs: 500, lingerMs: 1500 });
    const next = await rig(secureServer({ ticketKeys }));
    const session = await asksOnce(leaving.port, options);
    leaving.stop();
    const during = await handshake(leaving.port, { ...options, session });
    assert.equal(during.socket.isSessionReused(), true);
    during.client.send(GET);
    await during.client.until(/connection: close[^]*served/i);

    const begun = connectTcp(leaving.port, "127.0.0.1");
    await once(begun, "connect");
    await leaving.reaches("draining");
    const late = connect({ ...options, socket: begun, session });
    await once(late, "secureConnect");
    assert.equal(late.isSessionReused(), true);
    const client = wire(late);
    client.send(GET);
    await client.until(/connection: close[^]*served/i);

    const other = await handshake(next.port, { ...options, session });
    assert.equal(other.socket.isSessionReused(), true);
    other.socket.destroy();
    assert.equal((await leaving.record).requests.completed, 3);
    next.stop();
    await next.record;
  });
}

test("B8 a handshake that waits at the gate for the app's own store of sessions is served when it completes", async () => {
  const server = secureServer({ secureOptions: constants.SSL_OP_NO_TICKET, maxVersion: "TLSv1.2" });
  const store = new Map<string, Buffer>();
  const asked: (() => void)[] = [];
  server.on("newSession", (id: Buffer, session: Buffer, done: () => void) => {
    store.set(id.toString("hex"), session);
    done();
  });
  server.on(
    "resumeSession",
    (id: Buffer, done: (error: Error | null, session: Buffer | null) => void) =>
      void asked.push(() => done(null, store.get(id.toString("hex")) ?? null)),
  );
  const { port, stop, reaches, record } = await rig(server, { lingerMs: 1500 });
  const session = await asksOnce(port, { maxVersion: "TLSv1.2" });
  const coming = handshake(port, { maxVersion: "TLSv1.2", session });
  await once(server, "resumeSession");
  stop();
  await reaches("draining");
  await pause(100);
  asked.forEach((answer) => answer());
  const { socket, client } = await coming;
  assert.equal(socket.isSessionReused(), true);
  client.send(GET);
  await client.until(/connection: close[^]*served/i);
  assert.equal((await record).requests.completed, 2);
});

/** How the client's wish for a new handshake ended. */
function renegotiate(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.once("close", () => resolve("closed"));
    socket.renegotiate({ rejectUnauthorized: false }, (error) =>
      resolve(error === null ? "agreed" : "refused"),
    );
  });
}

test("B9 a renegotiation that is refused while draining harms no other connection, and is waited for by nobody", async () => {
  const held: (() => void)[] = [];
  const server = createServer(
    { ...CERTIFIED, maxVersion: "TLSv1.2", secureOptions: constants.SSL_OP_NO_RENEGOTIATION },
    (_, response) => held.push(() => response.end("served")),
  );
  const { port, stop, reaches, record } = await rig(server);
  const asking = await handshake(port);
  const other = await handshake(port);
  asking.client.send(GET);
  other.client.send(GET);
  while (held.length < 2) {
    await once(server, "request");
  }
  stop();
  await reaches("draining");
  assert.notEqual(await renegotiate(asking.socket), "agreed");
  held.forEach((answer) => answer());
  await other.client.until(/connection: close[^]*served/i);
  assert.equal(await other.client.ended, "fin");
  const { requests, outcome, errors } = await record;
  assert.deepEqual([requests.accepted, requests.completed, outcome], [2, 2, "drained"]);
  assert.deepEqual(errors, []);
});

test("B9 a renegotiation that the server agrees to costs the request in flight nothing", async () => {
  const held: (() => void)[] = [];
  const server = createServer({ ...CERTIFIED, maxVersion: "TLSv1.2" }, (_, response) =>
    held.push(() => response.end("served")),
  );
  const { port, stop, reaches, record } = await rig(server);
  const { socket, client } = await handshake(port);
  client.send(GET);
  await once(server, "request");
  stop();
  await reaches("draining");
  assert.equal(await renegotiate(socket), "agreed");
  held.forEach((answer) => answer());
  await client.until(/connection: close[^]*served/i);
  assert.equal(await client.ended, "fin");
  assert.equal((await record).requests.completed, 1);
});

/** The type of the last TLS record: with TLS 1.2 it can be read from outside. */
function lastRecordType(chunks: readonly Buffer[]): number | undefined {
  const bytes = Buffer.concat(chunks);
  let at = 0;
  for (let next = 0; next < bytes.length; next += 5 + bytes.readUInt16BE(next + 3)) {
    at = next;
  }
  return bytes[at];
}

const ALERT = 0x15;

test("B9 close_notify goes before FIN on HTTP/2 sessions and on WebSockets too", async () => {
  const http2 = createSecureServer({ ...CERTIFIED, maxVersion: "TLSv1.2" }, (_, response) => {
    response.end("served");
  });
  const upgrading = secureServer({ maxVersion: "TLSv1.2" });
  upgrading.on("upgrade", (_, socket: Socket) => {
    socket.on("data", () => socket.end());
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  });
  const sessions = await rig(http2);
  const webSockets = await rig(upgrading);
  const [first, second] = [await delayProxy(sessions.port, 0), await delayProxy(webSockets.port, 0)];
  const session = await Http2Client.connect(first.port, "TLS");
  const stream = session.request("/");
  await session.until(() => stream.end === "whole");
  const { client } = await handshake(second.port);
  client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  await client.until(/\r\n\r\n/);
  sessions.stop();
  webSockets.stop();
  await session.closed;
  await client.until(/restart/);
  client.send(Buffer.from("88820000000003e9", "hex"));
  assert.equal(await client.ended, "fin");
  await Promise.all([sessions.record, webSockets.record]);
  assert.equal(lastRecordType(first.fromServer[0] ?? []), ALERT);
  assert.equal(lastRecordType(second.fromServer[0] ?? []), ALERT);
  first.close();
  second.close();
});
