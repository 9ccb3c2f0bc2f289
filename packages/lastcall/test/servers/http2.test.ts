import assert from "node:assert/strict";
import { once } from "node:events";
import {
  connect as connectHttp2,
  createSecureServer,
  createServer,
  type Http2Server,
  type ServerHttp2Stream,
} from "node:http2";
import { test } from "node:test";
import { delayProxy } from "./delay-proxy.ts";
import { Http2Client } from "./http2-client.ts";
import { BOTH, CERTIFIED, dial, pause, rig, TIMES, type Over } from "./rig.ts";

type Answer = (stream: ServerHttp2Stream, path: string) => void;

/** Node's two APIs for the same thing. */
const APIS = ["request", "stream"] as const;

function http2Server(over: Over, api: (typeof APIS)[number], answer: Answer): Http2Server {
  const server = over === "TLS" ? createSecureServer(CERTIFIED) : createServer();
  if (api === "request") {
    server.on("request", (request, response) => answer(response.stream, request.url));
  } else {
    server.on("stream", (stream, headers) => answer(stream, headers[":path"] ?? ""));
  }
  return server;
}

function ok(stream: ServerHttp2Stream, body = "ok"): void {
  if (!stream.destroyed) {
    stream.respond({ ":status": 200 });
    stream.end(body);
  }
}

for (const over of BOTH) {
  for (const api of APIS) {
    test(`F2 streams in flight at the gate are answered, the session is told and closes (${over}, '${api}')`, async () => {
      const held: ServerHttp2Stream[] = [];
      const server = http2Server(over, api, (stream, path) => {
        if (path === "/hold") {
          held.push(stream);
        } else {
          ok(stream);
        }
      });
      const { port, stop, reaches, record } = await rig(server, { drainDelayMs: 400 });
      const client = await Http2Client.connect(port, over);
      client.request("/hold");
      client.request("/hold");
      await client.until(() => held.length === 2);
      stop();
      const during = client.request("/during");
      await client.until(() => during.end === "whole");
      assert.deepEqual(client.goaways, [], "served as before during the drain delay");
      await reaches("draining");
      await client.until(() => client.goaways.length === (over === "TLS" ? 1 : 2));
      held.forEach((stream) => ok(stream));
      await client.closed;
      assert.deepEqual(client.tally(), { answered: 3, other: 0, retry: 0, lost: 0 });
      assert.equal(client.goaways.at(-1), 5);
      const { requests, connections, outcome } = await record;
      assert.deepEqual([requests.accepted, requests.completed, outcome], [3, 3, "drained"]);
      assert.deepEqual(connections, { http2Sessions: 1, http2SessionsCut: 0 });
    });

    test(`C1 at the deadline a stream without a head gets 503, one that has begun is reset (${over}, '${api}')`, async () => {
      const server = http2Server(over, api, (stream, path) => {
        if (path === "/begun") {
          stream.respond({ ":status": 200 });
          stream.write("part");
        }
      });
      const { port, stop, record } = await rig(server, { gracefulTimeoutMs: 400 });
      const client = await Http2Client.connect(port, over);
      const silent = client.request("/silent");
      const begun = client.request("/begun");
      await client.until(() => begun.body === "part");
      stop();
      await client.closed;
      assert.deepEqual([silent.status, silent.end, silent.body], ["other", "whole", '{"error":"draining"}']);
      assert.equal(begun.end, "reset");
      const { requests, unfinished, exitCode, connections } = await record;
      assert.equal(requests.unfinished, 2);
      assert.deepEqual(unfinished.map(({ route, cut }) => `${route} ${cut}`).toSorted(), [
        "GET /begun reset",
        "GET /silent 503",
      ]);
      assert.equal(connections?.http2SessionsCut, 1);
      assert.equal(exitCode, 3);
    });
  }

  test(`F2 sessions without a stream, and bytes that are no session yet, hold no longer than the window (${over})`, async () => {
    const server = http2Server(over, "request", (stream) => ok(stream));
    const { port, stop, record } = await rig(server);
    const quiet = await Http2Client.connect(port, over);
    const served = await Http2Client.connect(port, over);
    const deaf = await Http2Client.connect(port, over);
    deaf.polite = false;
    const bytes = await dial(port);
    const first = served.request("/");
    await served.until(() => first.end === "whole");
    stop();
    await Promise.all([quiet.closed, served.closed, deaf.closed, bytes.ended]);
    const { phases, outcome } = await record;
    assert.equal(outcome, "drained");
    assert.ok(phases.totalMs < 2500, String(phases.totalMs));
  });

  test(`B4 a body on its way over HTTP/2 at the gate is read to its end and answered, trailers too (${over})`, async () => {
    const server = http2Server(over, "stream", (stream) => {
      let bytes = 0;
      stream.on("data", (chunk: Buffer) => (bytes += chunk.length));
      stream.on("end", () => {
        stream.respond({ ":status": 200 }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ checksum: "abc" }));
        stream.end(`read ${bytes}`);
      });
    });
    const { port, stop, reaches, record } = await rig(server);
    const client = await Http2Client.connect(port, over);
    const upload = client.request("/upload", "body follows", "POST");
    client.send(upload, "first");
    await once(server, "stream");
    stop();
    await reaches("draining");
    client.send(upload, "second", true);
    await client.closed;
    assert.deepEqual([upload.end, upload.body], ["whole", "read 11"]);
    assert.equal((await record).requests.completed, 1);
  });

  test(`B3 a slow reader gets a large body over HTTP/2 whole, across the gate and the window (${over})`, async () => {
    const bytes = 8 * 1024 * 1024;
    const server = http2Server(over, "request", (stream) => ok(stream, "x".repeat(bytes)));
    const { port, stop, reaches, record } = await rig(server, { lingerMs: 100 });
    const client = connectHttp2(`${over === "TLS" ? "https" : "http"}://127.0.0.1:${port}`, {
      rejectUnauthorized: false,
    });
    const stream = client.request({ ":path": "/" });
    stream.pause();
    await once(server, "stream");
    stop();
    await reaches("draining");
    await pause(400);
    let got = 0;
    stream.resume();
    stream.on("data", (chunk: Buffer) => (got += chunk.length));
    await once(stream, "close");
    assert.equal(got, bytes);
    assert.equal((await record).outcome, "drained");
    client.destroy();
  });
}

test("F2 over TLS with allowHTTP1 both protocols are drained by one server", async () => {
  const held: (() => void)[] = [];
  const server = createSecureServer({ ...CERTIFIED, allowHTTP1: true }, (request, response) => {
    held.push(() => response.end(`answered HTTP/${request.httpVersion}`));
  });
  const { port, stop, reaches, record } = await rig(server);
  const second = await Http2Client.connect(port, "TLS");
  const first = await dial(port, "TLS");
  const stream = second.request("/");
  first.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await second.until(() => held.length === 2);
  stop();
  await reaches("draining");
  held.forEach((answer) => answer());
  await first.until(/connection: close[^]*answered HTTP\/1\.1/i);
  assert.equal(await first.ended, "fin");
  await second.closed;
  assert.deepEqual([stream.end, stream.body], ["whole", "answered HTTP/2.0"]);
  const { requests, connections } = await record;
  assert.deepEqual([requests.accepted, requests.completed], [2, 2]);
  assert.deepEqual(connections, { http2Sessions: 1, http2SessionsCut: 0 });
});

for (const api of APIS) {
  test(`E4 in respond mode a new stream gets a 503, a gRPC call status 14, and neither runs ('${api}')`, async () => {
    const ran: string[] = [];
    const held: ServerHttp2Stream[] = [];
    const server = http2Server("plain", api, (stream, path) => {
      ran.push(path);
      held.push(stream);
    });
    const { port, stop, reaches, record } = await rig(server, { admission: "respond" });
    const node = connectHttp2(`http://127.0.0.1:${port}`);
    const first = node.request({ ":path": "/hold" });
    await once(server, "stream");
    stop();
    await reaches("draining");
    const refused = node.request({ ":path": "/late" });
    const [headers] = await once(refused, "response");
    assert.equal(headers[":status"], 503);
    assert.equal(headers["retry-after"], "1");
    const call = node.request({ ":path": "/rpc", ":method": "POST", "content-type": "application/grpc" });
    const [status] = await once(call, "response");
    assert.equal(status["grpc-status"], "14");
    held.forEach((stream) => ok(stream));
    await once(first, "response");
    first.resume();
    const { requests, phases } = await record;
    node.destroy();
    assert.deepEqual(ran, ["/hold"]);
    assert.deepEqual([requests.accepted, requests.completed, requests.refused["503"]], [1, 1, 2]);
    assert.ok(phases.totalMs < 3000, "a client that does not close its side is not waited for");
  });
}

test("an app without a 'request' listener does not get one from us", async () => {
  const server = createServer();
  server.on("stream", (stream) => ok(stream));
  const { stop, record } = await rig(server);
  assert.equal(server.listenerCount("request"), 0);
  assert.equal(server.listenerCount("stream"), 2);
  stop();
  await record;
});

test("requestSignal and the probes work with HTTP/2's request API; the probe is no work", async () => {
  const aborted: string[] = [];
  const server = createServer((request, response) => {
    if (!life.probes(request, response)) {
      life.requestSignal(request).addEventListener("abort", () => {
        aborted.push(request.url);
        response.end("told");
      });
    }
  });
  const { life, port, stop, record } = await rig(server, {
    gracefulTimeoutMs: 900,
  });
  const client = await Http2Client.connect(port);
  const probe = client.request("/readyz");
  const wait = client.request("/wait");
  await client.until(() => probe.end === "whole");
  stop();
  await client.closed;
  assert.deepEqual(aborted, ["/wait"]);
  assert.equal(wait.body, "told");
  assert.deepEqual((await record).requests.completed, 1);
});

/** Clients at a distance that open streams without a pause until they are told not to, over a restart. */
async function restartUnderLoad(
  over: Over,
  sessions: number,
  streams: number,
): Promise<Http2Client["tally"][]> {
  const server = http2Server(over, "request", (stream) => {
    setTimeout(() => ok(stream), 5 + Math.random() * 20);
  });
  const { port, stop, record } = await rig(server, { ...TIMES, lingerMs: 1000 });
  const proxy = await delayProxy(port, 15);
  const clients = await Promise.all(
    Array.from({ length: sessions }, () => Http2Client.connect(proxy.port, over)),
  );
  for (const client of clients) {
    // A connection that is still in the accept queue at the gate is another story.
    const first = client.request("/");
    await client.until(() => first.end === "whole");
  }
  // Not more than a busy machine can take: it is to be the distance that delays, not the load.
  const everyMs = Math.max(5, sessions);
  const load = clients.map(async (client) => {
    while (client.open) {
      for (let n = 0; n < streams; n += 1) {
        client.request("/");
      }
      await pause(everyMs);
    }
  });
  await pause(Number(process.env["LASTCALL_TEST_LOAD"] ?? 400));
  stop();
  await Promise.all(load);
  await Promise.all(clients.map(({ closed }) => closed));
  const { requests, outcome } = await record;
  assert.equal(outcome, "drained");
  assert.equal(requests.unfinished, 0);
  proxy.close();
  return clients.map((client) => () => client.tally());
}

test("F2 h2c over a round trip of 30 ms: two GOAWAYs, and not one stream is without an answer", async (t) => {
  // LASTCALL_TEST_SESSIONS=100 LASTCALL_TEST_LOAD=8000 is how docs/protocols.md was measured.
  const sessions = Number(process.env["LASTCALL_TEST_SESSIONS"] ?? 10);
  const tallies = (await restartUnderLoad("plain", sessions, 2)).map((tally) => tally());
  const sum = (name: "answered" | "other" | "retry" | "lost"): number =>
    tallies.reduce((total, tally) => total + tally[name], 0);
  assert.deepEqual([sum("other"), sum("retry"), sum("lost")], [0, 0, 0]);
  t.diagnostic(`${sum("answered")} streams on ${sessions} sessions, each answered`);
  assert.ok(sum("answered") > sessions * 10, `${sum("answered")} streams`);
});

test("F2 over TLS and the same round trip: what is not answered lies above the last id and is safe to retry", async () => {
  const tallies = (await restartUnderLoad("TLS", 5, 2)).map((tally) => tally());
  for (const { lost, other } of tallies) {
    assert.deepEqual([lost, other], [0, 0]);
  }
  assert.ok(
    tallies.some(({ retry }) => retry > 0),
    "streams that were on their way",
  );
});

test("F2 a session that was told late has its time all the same: what was on its way when the linger window ends is served", async () => {
  // The linger window is over before the listener has closed: as on a busy machine.
  const server = http2Server("plain", "request", (stream) => ok(stream));
  const { port, stop, reaches, record } = await rig(server, { lingerMs: 1 });
  const proxy = await delayProxy(port, 20);
  // So seldom that nothing tells the service of what is on its way; of four, one at least has nothing there in that very moment.
  const clients = await Promise.all(Array.from({ length: 4 }, () => Http2Client.connect(proxy.port)));
  for (const client of clients) {
    const first = client.request("/");
    await client.until(() => first.end === "whole");
  }
  stop();
  await reaches("draining");
  const asking = clients.map(async (client) => {
    while (client.open) {
      client.request("/");
      await pause(20);
    }
    await client.closed;
  });
  await Promise.all(asking);
  await record;
  proxy.close();
  for (const client of clients) {
    const { answered, ...others } = client.tally();
    assert.deepEqual(others, { other: 0, retry: 0, lost: 0 });
    assert.ok(answered > 1, `${answered} streams`);
    assert.equal(client.goaways[0], 2 ** 31 - 1);
  }
});
