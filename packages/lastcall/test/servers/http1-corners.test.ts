import assert from "node:assert/strict";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { TEST_ONLY_CERTIFICATE } from "../fixtures/test-only-certificate.ts";
import { delayProxy } from "./delay-proxy.ts";
import { BOTH, dial, httpServer, pause, rig, wire, type Wire } from "./rig.ts";

const MANY = 8 * 1024 * 1024;

/** A gate that the test opens: handlers wait behind it. */
function door(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

function head(text: string): string {
  return text.slice(0, text.indexOf("\r\n\r\n")).toLowerCase();
}

function request(method: string, path: string, ...headers: string[]): string {
  return [`${method} ${path} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n");
}

/** Sends as many proxies do: all of the body first, and reads only then. A reset on the way fails it. */
async function sendUnread(client: Wire, bytes: number): Promise<void> {
  client.socket.pause();
  const flushed = new Promise<void>((resolve, reject) => {
    client.socket.once("error", reject);
    client.socket.write(Buffer.alloc(bytes, "x"), () => resolve());
  });
  await flushed;
  client.socket.resume();
}

for (const over of BOTH) {
  test(`C8 a close-delimited HTTP/1.0 body that is cut at the deadline ends with a reset (${over})`, async () => {
    const server = httpServer(over, (_, response) => {
      response.write("half of it");
    });
    const { port, stop, record } = await rig(server, { gracefulTimeoutMs: 300 });
    const client = await dial(port, over);
    client.send("GET / HTTP/1.0\r\n\r\n");
    await client.until(/half of it/);
    assert.doesNotMatch(head(client.text()), /content-length|transfer-encoding/);
    stop();
    assert.equal(await client.ended, "reset");
    const { requests, unfinished } = await record;
    assert.equal(requests.unfinished, 1);
    assert.equal(unfinished[0]?.cut, "reset");
  });

  test(`C8 a chunked body that is cut at the deadline ends with a reset and no last chunk (${over})`, async () => {
    const server = httpServer(over, (_, response) => {
      response.write("half of it");
    });
    const { port, stop, record } = await rig(server, { gracefulTimeoutMs: 300 });
    const client = await dial(port, over);
    client.send(request("GET", "/"));
    await client.until(/half of it/);
    stop();
    assert.equal(await client.ended, "reset");
    assert.doesNotMatch(client.text(), /\r\n0\r\n/);
    await record;
  });

  test(`B3 an HTTP/1.0 answer begun before the signal ends in order, whole (${over})`, async () => {
    const { open, opened } = door();
    const server = httpServer(over, (_, response) => {
      response.write("first half, ");
      void opened.then(() => response.end("second half"));
    });
    const { port, stop, record } = await rig(server);
    const client = await dial(port, over);
    client.send("GET / HTTP/1.0\r\n\r\n");
    await client.until(/first half/);
    stop();
    open();
    assert.equal(await client.ended, "fin");
    assert.match(client.text(), /first half, second half$/);
    assert.equal((await record).requests.completed, 1);
  });

  test(`A4 HEAD, 204 and 304 announce the end of the connection and have no body (${over})`, async () => {
    const answers: Readonly<Record<string, RequestListener>> = {
      "/head": (_, response) => response.writeHead(200, { "Content-Length": "5" }).end("hello"),
      "/204": (_, response) => response.writeHead(204).end(),
      "/304": (_, response) => response.writeHead(304, { ETag: '"1"' }).end(),
    };
    const server = httpServer(over, (message, response) => answers[message.url ?? ""]?.(message, response));
    const { port, stop, record } = await rig(server, { drainDelayMs: 600 });
    const clients = await Promise.all(Object.keys(answers).map(() => dial(port, over)));
    stop();
    for (const [at, path] of Object.keys(answers).entries()) {
      clients[at]?.send(request(path === "/head" ? "HEAD" : "GET", path));
    }
    for (const client of clients) {
      assert.equal(await client.ended, "fin");
      assert.match(head(client.text()), /^connection: close$/m);
      assert.ok(client.text().endsWith("\r\n\r\n"), client.text());
    }
    assert.equal((await record).requests.completed, 3);
  });

  test(`A4 informational answers pass untouched before the one that announces (${over})`, async () => {
    const server = httpServer(over, (_, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
      response.end("whole");
    });
    const { port, stop, record } = await rig(server, { drainDelayMs: 400 });
    const client = await dial(port, over);
    stop();
    client.send(request("GET", "/"));
    await client.ended;
    const [processing = "", hints = "", final = ""] = client.text().split("\r\n\r\n");
    assert.match(processing, /^HTTP\/1.1 102/);
    assert.match(hints, /^HTTP\/1.1 103/);
    assert.match(final, /^HTTP\/1.1 200[^]*Connection: close/i);
    assert.match(client.text(), /whole/);
    await record;
  });

  test(`B3 trailers of a response that was streaming at the gate arrive after the last chunk (${over})`, async () => {
    const { open, opened } = door();
    const server = httpServer(over, (_, response) => {
      response.writeHead(200, { Trailer: "Checksum" });
      response.write("part");
      void opened.then(() => {
        response.addTrailers({ Checksum: "abc" });
        response.end();
      });
    });
    const { port, stop, record } = await rig(server);
    const client = await dial(port, over);
    client.send(request("GET", "/"));
    await client.until(/part/);
    stop();
    open();
    await client.until(/\r\n0\r\nChecksum: abc\r\n\r\n$/);
    assert.equal((await record).requests.completed, 1);
  });

  for (const listener of ["with", "without"] as const) {
    test(`F5 Expect: 100-continue in flight is answered, ${listener} an app listener (${over})`, async () => {
      const { open, opened } = door();
      const app: RequestListener = (message, response) => {
        let bytes = 0;
        message.on("data", (chunk: Buffer) => (bytes += chunk.length));
        message.on("end", () => response.end(`read ${bytes}`));
      };
      const server = httpServer(over, app);
      const came = once(server, listener === "with" ? "checkContinue" : "request");
      if (listener === "with") {
        server.on("checkContinue", (message, response) => {
          void opened.then(() => {
            response.writeContinue();
            app(message, response);
          });
        });
      }
      const { port, stop, reaches, record } = await rig(server);
      const client = await dial(port, over);
      client.send(request("POST", "/", "Content-Length: 4", "Expect: 100-continue"));
      await (listener === "with" ? came : client.until(/100 Continue/));
      stop();
      await reaches("draining");
      open();
      await client.until(/100 Continue/);
      client.send("body");
      await client.until(/read 4/);
      const { requests } = await record;
      assert.deepEqual([requests.accepted, requests.completed], [1, 1]);
    });
  }

  test(`B6 pipelined requests in flight at the gate are answered in order, the last one announces (${over})`, async () => {
    const { open, opened } = door();
    const server = httpServer(over, (message, response) => {
      void opened.then(() => response.end(`<${message.url}>`));
    });
    const { port, stop, reaches, record } = await rig(server);
    const client = await dial(port, over);
    const third = new Promise<void>((resolve) => {
      server.on("request", (message) => message.url === "/3" && resolve());
    });
    client.send(request("GET", "/1") + request("GET", "/2") + request("GET", "/3"));
    await third;
    stop();
    await reaches("draining");
    open();
    assert.equal(await client.ended, "fin");
    assert.deepEqual(client.text().match(/<\/\d>/g), ["</1>", "</2>", "</3>"]);
    assert.equal(client.text().match(/connection: close/gi)?.length, 1);
    assert.equal((await record).requests.completed, 3);
  });

  test(`A3 an upgrade that the server does not know (h2c, websocket) is an ordinary request (${over})`, async () => {
    const server = httpServer(over, (message, response) => response.end(`plain ${message.headers.upgrade}`));
    const { port, stop, record } = await rig(server, { drainDelayMs: 400 });
    const clients = await Promise.all([dial(port, over), dial(port, over)]);
    stop();
    clients[0].send(
      request("GET", "/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"),
    );
    clients[1].send(request("GET", "/", "Connection: Upgrade", "Upgrade: websocket"));
    assert.match(await clients[0].until(/plain h2c/), /^HTTP\/1.1 200[^]*connection: close/i);
    assert.match(await clients[1].until(/plain websocket/), /^HTTP\/1.1 200[^]*connection: close/i);
    assert.equal((await record).requests.completed, 2);
  });

  test(`E4 CONNECT without a listener is closed by Node itself and holds nothing (${over})`, async () => {
    const server = httpServer(over, (_, response) => response.end());
    const { port, stop, record } = await rig(server);
    const client = await dial(port, over);
    client.send("CONNECT example.net:443 HTTP/1.1\r\nHost: example.net\r\n\r\n");
    await client.ended;
    stop();
    assert.equal((await record).outcome, "drained");
  });

  test(`A5 a connection whose answer had left its head before the signal is served once more, then told (${over})`, async () => {
    const { open, opened } = door();
    const server = httpServer(over, (message, response) => {
      if (message.url === "/1") {
        response.flushHeaders();
        void opened.then(() => response.end("one"));
      } else {
        response.end("two");
      }
    });
    const { port, stop, reaches, record } = await rig(server, { lingerMs: 1500 });
    const client = await dial(port, over);
    client.send(request("GET", "/1"));
    await client.until(/\r\n\r\n/);
    stop();
    await reaches("draining");
    open();
    await client.until(/one/);
    client.send(request("GET", "/2"));
    await client.until(/connection: close[^]*two/i);
    assert.equal(await client.ended, "fin");
    assert.equal((await record).requests.completed, 2);
  });

  test(`E1 a malformed head is answered 400 and counted, and holds nothing (${over})`, async () => {
    const server = httpServer(over, (_, response) => response.end());
    const { port, stop, record } = await rig(server, { drainDelayMs: 400 });
    const client = await dial(port, over);
    stop();
    client.send("THIS IS NOT HTTP\r\n\r\n");
    await client.until(/^HTTP\/1.1 400/);
    assert.equal((await record).requests.refused["400"], 1);
  });

  test(`E4 a refusal reaches a client that is still sending 8 MB which nobody reads (${over})`, async () => {
    const { open, opened } = door();
    const server = httpServer(over, (_, response) => void opened.then(() => response.end("first")));
    const { port, stop, reaches, record } = await rig(server, { lingerMs: 0 });
    const [holder, late] = await Promise.all([dial(port, over), dial(port, over)]);
    holder.send(request("GET", "/hold"));
    late.send("POST /late HTTP/1.1\r\n");
    await once(server, "request");
    stop();
    await reaches("draining");
    await pause(150);
    late.send(`Host: x\r\nContent-Length: ${MANY}\r\n\r\n`);
    await sendUnread(late, MANY);
    const text = await late.until(/\{"error":"draining"\}/);
    assert.match(text, /^HTTP\/1.1 503[^]*connection: close/i);
    assert.equal(await late.ended, "fin");
    open();
    assert.equal((await record).requests.refused["503"], 1);
  });

  test(`A4 an app's early answer, told to close, reaches a client that is still sending 8 MB (${over})`, async () => {
    const server = httpServer(over, (_, response) => {
      response.writeHead(413).end("too large");
    });
    const { port, stop, record } = await rig(server, { drainDelayMs: 1500 });
    const client = await dial(port, over);
    stop();
    client.send(request("POST", "/", `Content-Length: ${MANY}`));
    await sendUnread(client, MANY);
    await client.until(/connection: close[^]*too large/i);
    assert.equal(await client.ended, "fin");
    await record;
  });

  test(`B3 a slow reader gets all 32 MB across the gate and the end of the linger window (${over})`, async () => {
    const bytes = 32 * 1024 * 1024;
    const server = httpServer(over, (_, response) => {
      response.writeHead(200, { "Content-Length": bytes }).end(Buffer.alloc(bytes, "x"));
    });
    const { port, stop, reaches, record } = await rig(server, { lingerMs: 100 });
    const client = await dial(port, over);
    client.socket.pause();
    client.send(request("GET", "/"));
    await once(server, "request");
    stop();
    await reaches("draining");
    await pause(500);
    client.socket.resume();
    await client.ended;
    assert.equal(client.text().length - client.text().indexOf("\r\n\r\n") - 4, bytes);
    assert.equal((await record).outcome, "drained");
  });

  test(`C3 half a head and half a body hold until the deadline, not longer, and are told 503 (${over})`, async () => {
    const server = httpServer(over, (message) => message.resume());
    const { port, stop, record } = await rig(server, { gracefulTimeoutMs: 900 });
    const [halfHead, halfBody] = await Promise.all([dial(port, over), dial(port, over)]);
    halfHead.send("POST / HTTP/1.1\r\nHo");
    halfBody.send(request("POST", "/slow", "Content-Length: 100"));
    await once(server, "request");
    stop();
    const drip = setInterval(() => {
      halfHead.send("o");
      halfBody.send("b");
    }, 100);
    try {
      await Promise.all([halfHead.until(/^HTTP\/1.1 503/), halfBody.until(/^HTTP\/1.1 503/)]);
      const { requests, phases } = await record;
      assert.equal(requests.unfinished, 1);
      assert.ok(phases.totalMs >= 850 && phases.totalMs < 2500, String(phases.totalMs));
    } finally {
      clearInterval(drip);
      halfHead.socket.destroy();
      halfBody.socket.destroy();
    }
  });

  test(`B11 a server attached late, with a request in flight, is drained like any other (${over})`, async () => {
    const { open, opened } = door();
    const late = httpServer(over, (_, response) => void opened.then(() => response.end("late")));
    late.listen(0, "127.0.0.1");
    await once(late, "listening");
    const { life, stop, reaches, record } = await rig(httpServer("plain", () => {}));
    const client = await dial((late.address() as { port: number }).port, over);
    client.send(request("GET", "/"));
    await once(late, "request");
    stop();
    life.http(late);
    await reaches("draining");
    open();
    await client.until(/connection: close[^]*late/i);
    assert.equal((await record).requests.completed, 1);
    assert.equal(late.listening, false);
  });
}

test("B8 a TLS handshake in progress at the gate is served when it completes within the window, else ended", async () => {
  const server = httpServer("TLS", (_, response) => response.end("served"));
  const { port, stop, reaches, record } = await rig(server, { lingerMs: 1500 });
  const quick = connect(port, "127.0.0.1");
  const stuck = wire(connect(port, "127.0.0.1"));
  await Promise.all([once(quick, "connect"), once(stuck.socket, "connect")]);
  // The record layer of a ClientHello that never comes.
  stuck.send(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]));
  stop();
  await reaches("draining");
  await pause(100);
  const secured = connectTls({ socket: quick, host: "127.0.0.1", ca: TEST_ONLY_CERTIFICATE });
  await once(secured, "secureConnect");
  const client = wire(secured);
  client.send(request("GET", "/"));
  await client.until(/connection: close[^]*served/i);
  const { phases, outcome } = await record;
  assert.equal(outcome, "drained");
  assert.ok(phases.drainingMs >= 1450 && phases.drainingMs < 3500, String(phases.drainingMs));
  await stuck.ended;
});

test("B9 over TLS every connection that the drain ends says close_notify before FIN, idle ones too", async () => {
  const server = httpServer("TLS", (_, response) => response.end("served"));
  const { port, stop, record } = await rig(server, { lingerMs: 100 });
  const recorder = await delayProxy(port, 0);
  const idle = wire(
    connectTls({ port: recorder.port, host: "127.0.0.1", ca: TEST_ONLY_CERTIFICATE, maxVersion: "TLSv1.2" }),
  );
  idle.send(request("GET", "/"));
  await idle.until(/served/);
  stop();
  assert.equal(await idle.ended, "fin");
  await record;
  // With TLS 1.2 the type of a record can be read from outside: 0x15 is an alert.
  assert.equal(
    Buffer.concat(recorder.fromServer[0] ?? []).at(lastRecord(recorder.fromServer[0] ?? [])),
    0x15,
  );
  recorder.close();
});

/** Where the last TLS record begins. */
function lastRecord(chunks: readonly Buffer[]): number {
  const bytes = Buffer.concat(chunks);
  let at = 0;
  for (let next = 0; next < bytes.length; next += 5 + bytes.readUInt16BE(next + 3)) {
    at = next;
  }
  return at;
}
