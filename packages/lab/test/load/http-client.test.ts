import assert from "node:assert/strict";
import type net from "node:net";
import { afterEach, describe, test } from "node:test";
import type { Exchange } from "../../src/load/exchange.ts";
import { createHttpClient, type HttpClient } from "../../src/load/http-client.ts";
import { closedPort, rawServer, type RawServer } from "./raw-server.ts";

const WIRE = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

interface Rig {
  readonly client: HttpClient;
  /** Sends one request and waits for its fate. */
  readonly send: (wire?: string) => Promise<Exchange>;
}

const open: { close(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const it of open.splice(0)) {
    // One after the other: the client before the server.
    await it.close();
  }
});

function rig(port: number, options: { keepAlive?: boolean; timeoutMs?: number } = {}): Rig {
  let n = 0;
  const waiting = new Map<number, (exchange: Exchange) => void>();
  const client = createHttpClient({
    host: "127.0.0.1",
    port,
    keepAlive: options.keepAlive ?? false,
    timeoutMs: options.timeoutMs ?? 20_000,
    now: () => performance.now(),
    onEnd: (exchange) => {
      const resolve = waiting.get(exchange.n);
      assert.ok(resolve !== undefined, "a request has one fate");
      waiting.delete(exchange.n);
      resolve(exchange);
    },
  });
  open.unshift(client);
  return {
    client,
    send: (wire = WIRE) =>
      new Promise((resolve) => {
        waiting.set(n, resolve);
        client.send(n, performance.now(), wire);
        n += 1;
      }),
  };
}

async function server(onRequest: (socket: net.Socket, n: number, chunk: string) => void): Promise<RawServer> {
  const raw = await rawServer(onRequest);
  open.push(raw);
  return raw;
}

function reset(socket: net.Socket): void {
  socket.resetAndDestroy();
}

describe("failures have their stage", () => {
  test("a refused connection fails in connect", async () => {
    const exchange = await rig(await closedPort()).send();
    assert.deepEqual(
      [exchange.stage, exchange.error, exchange.closedFirst],
      ["connect", "ECONNREFUSED", null],
    );
    assert.ok(Number.isNaN(exchange.connectedMs) && exchange.endedMs >= exchange.dispatchedMs);
  });

  test("a reset before the first byte fails in wait", async () => {
    const { port } = await server((socket) => reset(socket));
    const exchange = await rig(port).send();
    assert.deepEqual(
      [exchange.stage, exchange.error, exchange.closedFirst],
      ["wait", "ECONNRESET", "server"],
    );
    assert.ok(exchange.writtenMs >= exchange.connectedMs);
  });

  test("a clean end before the first byte fails in wait with EOF", async () => {
    const { port } = await server((socket) => socket.end());
    const exchange = await rig(port).send();
    assert.deepEqual([exchange.stage, exchange.error, exchange.closedFirst], ["wait", "EOF", "server"]);
  });

  test("an end inside the head fails in wait and counts the first byte", async () => {
    const { port } = await server((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-le"));
    const exchange = await rig(port).send();
    assert.deepEqual([exchange.stage, exchange.error], ["wait", "EOF"]);
    assert.ok(!Number.isNaN(exchange.firstByteMs));
  });

  test("a body shorter than its Content-Length fails in body, with bytes promised and got", async () => {
    const { port } = await server((socket) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabcd"),
    );
    const exchange = await rig(port).send();
    assert.deepEqual(
      [exchange.stage, exchange.error, exchange.status, exchange.promised, exchange.got],
      ["body", "EOF", 200, 10, 4],
    );
  });

  test("a reset inside the body fails in body", async () => {
    const { port } = await server((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabcd");
      // Loopback delivers at once, and the client reads in the next turn: a reset before that would destroy the start.
      setImmediate(() => setImmediate(() => setImmediate(() => reset(socket))));
    });
    const exchange = await rig(port).send();
    assert.deepEqual([exchange.stage, exchange.error, exchange.got], ["body", "ECONNRESET", 4]);
  });

  test("a chunked body without its last chunk fails in body", async () => {
    const { port } = await server((socket) =>
      socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n"),
    );
    const exchange = await rig(port).send();
    assert.deepEqual(
      [exchange.stage, exchange.error, exchange.promised, exchange.got],
      ["body", "EOF", null, 4],
    );
  });

  test("garbage fails with PARSE and the client closes first", async () => {
    const { port } = await server((socket) => socket.write("SSH-2.0-OpenSSH_9.2\r\n"));
    const exchange = await rig(port).send();
    assert.deepEqual([exchange.stage, exchange.error, exchange.closedFirst], ["wait", "PARSE", "client"]);
  });

  test("no answer in time fails with TIMEOUT, counted from the intended time", async () => {
    const { port } = await server(() => {});
    const exchange = await rig(port, { timeoutMs: 300 }).send();
    assert.deepEqual([exchange.stage, exchange.error, exchange.closedFirst], ["wait", "TIMEOUT", "client"]);
    assert.ok(exchange.endedMs - exchange.intendedMs >= 299);
  });

  test("a request whose intended time is long past times out at once", async () => {
    const { port } = await server(() => {});
    const fate = await new Promise<Exchange>((resolve) => {
      const client = createHttpClient({
        host: "127.0.0.1",
        port,
        keepAlive: false,
        timeoutMs: 5000,
        now: () => performance.now(),
        onEnd: resolve,
      });
      open.unshift(client);
      client.send(0, performance.now() - 6000, WIRE);
    });
    assert.equal(fate.error, "TIMEOUT");
    assert.ok(fate.endedMs - fate.dispatchedMs < 4000);
  });

  test("a body that stalls fails in body with TIMEOUT", async () => {
    const { port } = await server((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab"));
    const exchange = await rig(port, { timeoutMs: 400 }).send();
    assert.deepEqual([exchange.stage, exchange.error, exchange.got], ["body", "TIMEOUT", 2]);
  });

  test("a large request that the server will not read fails in write", async () => {
    const { port } = await server((socket) => socket.pause());
    const body = "x".repeat(32 * 1024 * 1024);
    const wire = `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const exchange = await rig(port, { timeoutMs: 1500 }).send(wire);
    assert.deepEqual([exchange.stage, exchange.error], ["write", "TIMEOUT"]);
  });
});

describe("answers", () => {
  test("a 503 is an answer", async () => {
    const { port } = await server((socket) =>
      socket.end("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
    );
    const exchange = await rig(port).send();
    assert.deepEqual([exchange.status, exchange.stage, exchange.error], [503, null, null]);
  });

  test("a close-delimited body is whole when it ends cleanly", async () => {
    const { port } = await server((socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nhello"));
    const exchange = await rig(port).send();
    assert.deepEqual(
      [exchange.stage, exchange.promised, exchange.got, exchange.closedFirst],
      [null, null, 5, "server"],
    );
  });

  test("interim answers are skipped", async () => {
    const { port } = await server((socket) =>
      socket.write(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}`),
    );
    const exchange = await rig(port).send();
    assert.deepEqual([exchange.status, exchange.got], [200, 2]);
  });

  test("an answer before the request is wholly written is an answer, and its connection is not reused", async () => {
    const { port } = await server((socket, n) => {
      if (n === 1) {
        socket.write("HTTP/1.1 413 Payload Too Large\r\ncontent-length: 0\r\n\r\n");
        socket.pause();
      }
    });
    const { send } = rig(port, { keepAlive: true });
    const body = "x".repeat(32 * 1024 * 1024);
    const first = await send(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    assert.deepEqual([first.status, first.stage], [413, null]);
    const second = await send();
    assert.notEqual(second.connectionId, first.connectionId);
  });

  test("the copy and the router's words are read from the head", async () => {
    const { port } = await server((socket) =>
      socket.write(
        `HTTP/1.1 200 OK\r\nX-Lastcall-Copy: A\r\nX-LASTCALL-UPSTREAM: a|200|-|0.1\r\ncontent-length: 0\r\n\r\n`,
      ),
    );
    const exchange = await rig(port).send();
    assert.deepEqual([exchange.copy, exchange.upstream], ["A", "a|200|-|0.1"]);
  });

  test("without the header, the pid of a JSON body names the copy", async () => {
    const body = JSON.stringify({ pid: 4711, slept: 0.3 });
    const { port } = await server((socket) =>
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      ),
    );
    assert.equal((await rig(port).send()).copy, "4711");
  });
});

describe("connections", () => {
  test("without keep-alive each request has its own", async () => {
    const { port } = await server((socket) => socket.write(OK));
    const { send } = rig(port);
    const [first, second] = [await send(), await send()];
    assert.notEqual(first.connectionId, second.connectionId);
    assert.deepEqual([first.reuse, second.reuse], [0, 0]);
  });

  test("the most recently used one is taken first, and its reuse and age are told", async () => {
    const held: net.Socket[] = [];
    const { port } = await server((socket, n) => {
      if (n === 1) {
        held.push(socket);
        if (held.length === 2) {
          // The second connection is answered first, so the first one is the most recent.
          held[1]?.write(OK);
        }
      } else {
        socket.write(OK);
      }
    });
    const { send } = rig(port, { keepAlive: true });
    const both = [send(), send()];
    const second = await Promise.race(both);
    held[0]?.write(OK);
    const ends = await Promise.all(both);
    const first = ends.find((exchange) => exchange !== second);
    const third = await send();
    assert.equal(third.connectionId, first?.connectionId);
    assert.equal(third.reuse, 1);
    assert.ok(third.ageMs > 0 && third.connectedMs === third.dispatchedMs);
  });

  test("one that was opened before it was needed carries a request like a pooled one", async () => {
    const { port, sockets } = await server((socket) => socket.write(OK));
    const { client, send } = rig(port, { keepAlive: true });
    await client.connect(2);
    assert.equal(client.free, 2);
    const both = await Promise.all([send(), send()]);
    assert.deepEqual(
      both.map(({ status, reuse, connectionId }) => `${status} ${reuse} ${connectionId}`).toSorted(),
      ["200 0 1", "200 0 2"],
    );
    assert.ok(both.every(({ connectedMs, dispatchedMs }) => connectedMs === dispatchedMs));
    assert.equal(sockets.size, 2);
  });

  test("one that cannot be opened before it is needed is nobody's failure", async () => {
    const { client, send } = rig(await closedPort(), { keepAlive: true });
    await client.connect(2);
    assert.equal(client.free, 0);
    assert.equal((await send()).error, "ECONNREFUSED");
  });

  test("`Connection: close` in an answer is honoured", async () => {
    const { port } = await server((socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: Close\r\n\r\n"),
    );
    const { send } = rig(port, { keepAlive: true });
    const [first, second] = [await send(), await send()];
    assert.deepEqual([first.status, second.status], [200, 200]);
    assert.notEqual(first.connectionId, second.connectionId);
  });

  test("a POST on a pooled connection that dies is a failure: nothing is retried", async () => {
    let requests = 0;
    const { port } = await server((socket, n) => {
      requests += 1;
      if (n === 1) {
        socket.write(OK);
      } else {
        reset(socket);
      }
    });
    const { send } = rig(port, { keepAlive: true });
    const first = await send();
    const second = await send("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n");
    assert.deepEqual(
      [second.connectionId, second.reuse, second.stage, second.error, second.closedFirst],
      [first.connectionId, 1, "wait", "ECONNRESET", "server"],
    );
    assert.equal(requests, 2);
  });

  test("an idle connection that the server has closed is not used again", async () => {
    const { port, sockets } = await server((socket) => socket.write(OK));
    const { send } = rig(port, { keepAlive: true });
    const first = await send();
    const [socket] = sockets;
    const gone = new Promise((resolve) => socket?.once("close", resolve));
    socket?.end();
    // The server's socket closes when the client's end has come back: the client has seen the end by then.
    await gone;
    const second = await send();
    assert.equal(second.status, 200);
    assert.notEqual(second.connectionId, first.connectionId);
  });

  test("a connection on which unasked bytes came is not used again", async () => {
    const { port, sockets } = await server((socket) => socket.write(OK));
    const { send } = rig(port, { keepAlive: true });
    const first = await send();
    const [socket] = sockets;
    const gone = new Promise((resolve) => socket?.once("close", resolve));
    socket?.write("HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n");
    await gone;
    const second = await send();
    assert.equal(second.status, 200);
    assert.notEqual(second.connectionId, first.connectionId);
  });

  test("bytes after the end of an answer make its connection useless", async () => {
    const { port } = await server((socket) => socket.write(`${OK}HTTP/1.1 200 surplus`));
    const { send } = rig(port, { keepAlive: true });
    const [first, second] = [await send(), await send()];
    assert.deepEqual([first.status, second.status], [200, 200]);
    assert.notEqual(first.connectionId, second.connectionId);
  });
});
