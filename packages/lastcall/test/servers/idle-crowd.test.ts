import assert from "node:assert/strict";
import { test } from "node:test";
import { dial, httpServer, rig, type Wire } from "./rig.ts";

const CROWD = 300;
const ASK = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/** Connections that have had one answer and lie idle. */
async function idleClients(port: number, count: number): Promise<readonly Wire[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const client = await dial(port);
      client.send(ASK);
      await client.until(/ok$/);
      return client;
    }),
  );
}

function ending(clients: readonly Wire[]): Promise<string[]> {
  return Promise.all(clients.map((client) => client.ended));
}

test("B7 a crowd of idle connections is left to the exit, and meets a clean 503 until then", async () => {
  const server = httpServer("plain", (_, response) => response.end("ok"));
  const { life, port, stop, reaches, record } = await rig(server);
  let open = (): void => {};
  life.onTeardown("door", () => new Promise((resolve) => (open = () => resolve(undefined))));
  const clients = await idleClients(port, CROWD);
  stop();
  await reaches("teardown");
  assert.ok(clients.every(({ socket }) => !socket.readableEnded && !socket.closed));
  const [late] = clients;
  assert.ok(late !== undefined);
  late.send(ASK);
  assert.match(await late.until(/draining"\}$/), /HTTP\/1\.1 503 [^]*Connection: close/);
  open();
  const { outcome, requests } = await record;
  assert.equal(outcome, "drained");
  assert.deepEqual([requests.accepted, requests.completed, requests.refused["503"]], [CROWD, CROWD, 1]);
  // There is no process here that would end: what its exit does to the rest is done by hand.
  server.closeAllConnections();
  await ending(clients);
});

test("B7 a few idle connections, and a crowd beside a request in flight, are closed when the window is over", async () => {
  for (const { count, busy } of [
    { count: 10, busy: false },
    { count: CROWD, busy: true },
  ]) {
    let answer = (): void => {};
    const server = httpServer("plain", (request, response) => {
      if (request.url === "/slow") {
        answer = () => response.end("slow");
      } else {
        response.end("ok");
      }
    });
    const { port, stop, record } = await rig(server);
    const clients = await idleClients(port, count);
    const slow = busy ? await dial(port) : null;
    const asked = new Promise((resolve) => server.once("request", resolve));
    slow?.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    if (busy) {
      await asked;
    }
    stop();
    assert.deepEqual(new Set(await ending(clients)), new Set(["fin"]));
    answer();
    await slow?.until(/slow$/);
    assert.equal((await record).outcome, "drained");
  }
});
