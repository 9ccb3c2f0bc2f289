import assert from "node:assert/strict";
import { once } from "node:events";
import {
  connect,
  createSecureServer,
  createServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2Server,
  type ServerHttp2Stream,
} from "node:http2";
import { test } from "node:test";
import { BOTH, CERTIFIED, rig, type Over } from "./rig.ts";

function http2Server(over: Over): Http2Server {
  return over === "TLS" ? createSecureServer(CERTIFIED) : createServer();
}

function http2Client(port: number, over: Over): ClientHttp2Session {
  const client = connect(`${over === "TLS" ? "https" : "http"}://127.0.0.1:${port}`, {
    rejectUnauthorized: false,
  });
  client.on("error", () => {});
  return client;
}

/** All that comes on a stream, when it has ended. */
async function bodyOf(stream: ClientHttp2Stream): Promise<string> {
  let body = "";
  stream.setEncoding("utf8").on("data", (text: string) => (body += text));
  await once(stream, "end");
  return body;
}

/** Sends a stream along with another one. */
function push(stream: ServerHttp2Stream, path: string): Promise<ServerHttp2Stream> {
  return new Promise((resolve, reject) => {
    stream.pushStream({ ":path": path }, (error, pushed) => {
      if (error === null) {
        pushed.respond({ ":status": 200 });
        pushed.write(`the beginning of ${path}, `);
        resolve(pushed);
      } else {
        reject(error);
      }
    });
  });
}

for (const over of BOTH) {
  test(`F2 what was pushed before the gate is sent whole after it, and is no request (${over})`, async () => {
    const server = http2Server(over);
    const { port, stop, reaches, record } = await rig(server, { drainDelayMs: 400, lingerMs: 100 });
    const client = http2Client(port, over);
    const pushed: Promise<string>[] = [];
    client.on("stream", (stream: ClientHttp2Stream) => pushed.push(bodyOf(stream)));
    const request = client.request({ ":path": "/page" });
    const page = bodyOf(request);
    const [stream] = (await once(server, "stream")) as [ServerHttp2Stream];
    const early = await push(stream, "/before");
    stream.respond({ ":status": 200 });
    stream.write("the page");
    stop();
    const during = await push(stream, "/during");
    await reaches("draining");
    // The page is out long before what it has pushed.
    stream.end();
    assert.equal(await page, "the page");
    await new Promise((resolve) => setTimeout(resolve, 200));
    early.end("its end");
    during.end("its end");
    const { requests, outcome } = await record;
    assert.deepEqual((await Promise.all(pushed)).toSorted(), [
      "the beginning of /before, its end",
      "the beginning of /during, its end",
    ]);
    assert.deepEqual([requests.accepted, requests.completed, outcome], [1, 1, "drained"]);
    client.destroy();
  });

  test(`F2 what was pushed and never ends is cut at the deadline (${over})`, async () => {
    const server = http2Server(over);
    const { port, stop, record } = await rig(server, { gracefulTimeoutMs: 500, lingerMs: 100 });
    const client = http2Client(port, over);
    const request = client.request({ ":path": "/page" });
    const page = bodyOf(request);
    const [stream] = (await once(server, "stream")) as [ServerHttp2Stream];
    await push(stream, "/endless");
    stream.respond({ ":status": 200 });
    stream.end("the page");
    assert.equal(await page, "the page");
    stop();
    const { connections, exitCode, phases } = await record;
    assert.equal(connections?.http2SessionsCut, 1);
    assert.equal(exitCode, 0, "no request was cut");
    assert.ok(phases.totalMs < 2000, String(phases.totalMs));
    client.destroy();
  });

  test(`F2 a request's trailers that come after the gate reach the app, and its answer's reach the client (${over})`, async () => {
    const server = http2Server(over);
    server.on("stream", (stream) => {
      let heard = "none";
      stream.on("trailers", (trailers) => (heard = String(trailers["checksum"])));
      stream.resume();
      stream.on("end", () => {
        stream.respond({ ":status": 200 }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ heard }));
        stream.end("read");
      });
    });
    const { port, stop, reaches, record } = await rig(server);
    const client = http2Client(port, over);
    const request = client.request(
      { ":method": "POST", ":path": "/upload" },
      { endStream: false, waitForTrailers: true },
    );
    request.on("wantTrailers", () => request.sendTrailers({ checksum: "abc" }));
    request.write("first");
    await once(server, "stream");
    stop();
    await reaches("draining");
    const trailers = once(request, "trailers");
    request.end("second");
    const body = await bodyOf(request);
    const [{ heard }] = (await trailers) as [Record<string, string>];
    assert.deepEqual([body, heard], ["read", "abc"]);
    assert.equal((await record).requests.completed, 1);
    client.destroy();
  });
}
