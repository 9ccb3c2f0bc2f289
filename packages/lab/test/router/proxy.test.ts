import assert from "node:assert/strict";
import { createServer, request, Agent, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, test } from "node:test";
import { startProxy, type Proxy, type ProxyFailure, type ProxyOptions } from "../../src/router/proxy.ts";
import type { Upstream } from "../../src/router/router.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) {
    close();
  }
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.close();
    if ("closeAllConnections" in server) {
      (server as unknown as { closeAllConnections(): void }).closeAllConnections();
    }
  });
  return (server.address() as AddressInfo).port;
}

async function copy(name: string, listener: RequestListener): Promise<Upstream> {
  return { copy: name, host: "127.0.0.1", port: await listen(createServer(listener)) };
}

/** Takes each connection, and does with it what `act` does as soon as its request has come. */
async function rude(name: string, act: (socket: Socket) => void): Promise<Upstream> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => act(socket));
  });
  return { copy: name, host: "127.0.0.1", port: await listen(server) };
}

/** Nobody listens there. */
async function gone(name: string): Promise<Upstream> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return { copy: name, host: "127.0.0.1", port };
}

interface Setup {
  readonly proxy: Proxy;
  readonly failures: ProxyFailure[];
}

async function proxy(upstreams: readonly Upstream[], options: Partial<ProxyOptions> = {}): Promise<Setup> {
  const failures: ProxyFailure[] = [];
  const started = await startProxy(
    {
      port: 0,
      retries: false,
      upstreamKeepAlive: false,
      clientKeepAlive: false,
      connectTimeoutMs: 5000,
      readTimeoutMs: 5000,
      ...options,
    },
    upstreams,
    (failure) => void failures.push(failure),
  );
  closers.push(() => started.close());
  return { proxy: started, failures };
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
  readonly whole: boolean;
  readonly headers: IncomingMessage["headers"];
}

function ask({ proxy: to }: Setup, method = "GET", body = "", agent: Agent | false = false): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port: to.port, path: "/x?id=7", method, agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.on("error", () => undefined);
      answer.once("close", () =>
        resolve({ status: answer.statusCode, text, whole: answer.complete, headers: answer.headers }),
      );
    });
    asked.once("error", reject);
    asked.end(body);
  });
}

const says =
  (text: string): RequestListener =>
  (_req, res) =>
    void res.end(text);

test("requests go to the copies in turn, with method, path and body as they were sent", async () => {
  const seen: string[] = [];
  const echo =
    (name: string): RequestListener =>
    (req, res) => {
      let body = "";
      req.on("data", (part) => (body += part));
      req.on("end", () => {
        seen.push(`${name} ${req.method} ${req.url} ${body}`);
        res.writeHead(201, { "x-lastcall-copy": name }).end(name);
      });
    };
  const setup = await proxy([await copy("A", echo("A")), await copy("B", echo("B"))]);
  const answers = [];
  for (let n = 0; n < 4; n += 1) {
    answers.push(await ask(setup, "POST", `body ${n}`));
  }
  assert.deepEqual(seen, [
    "A POST /x?id=7 body 0",
    "B POST /x?id=7 body 1",
    "A POST /x?id=7 body 2",
    "B POST /x?id=7 body 3",
  ]);
  assert.ok(answers.every(({ status }) => status === 201));
  assert.equal(answers[1]?.headers["x-lastcall-copy"], "B");
});

test("without retries a refused connection is a 502 that names what was tried, and is logged as refused", async () => {
  const a = await gone("A");
  const setup = await proxy([a]);
  const answer = await ask(setup);
  assert.equal(answer.status, 502);
  assert.match(
    String(answer.headers["x-lastcall-upstream"]),
    new RegExp(`^127.0.0.1:${a.port}\\|502\\|-\\|0\\.\\d+$`),
  );
  assert.deepEqual(
    setup.failures.map((one) => one.class),
    ["connect-refused"],
  );
  assert.match(setup.failures[0]?.text ?? "", /id=7/);
});

test("with retries a refused connection goes to the next copy, a POST too: nothing was sent", async () => {
  for (const method of ["GET", "POST"]) {
    const setup = await proxy([await gone("A"), await copy("B", says("B"))], { retries: true });
    const answer = await ask(setup, method, method === "POST" ? "{}" : "");
    assert.equal(`${answer.status} ${answer.text}`, "200 B", method);
    assert.match(String(answer.headers["x-lastcall-upstream"]), /\|502, 200\|/);
  }
});

test("with retries a GET that was sent and not answered goes to the next copy, a POST never does", async () => {
  const ends = [
    (socket: Socket): unknown => socket.end(),
    (socket: Socket): unknown => socket.resetAndDestroy(),
  ];
  for (const [index, end] of ends.entries()) {
    const upstreams = [await rude("A", end), await copy("B", says("B"))];
    const get = await proxy(upstreams, { retries: true });
    assert.equal((await ask(get)).text, "B");
    const post = await proxy(upstreams, { retries: true });
    assert.equal((await ask(post, "POST", "{}")).status, 502);
    assert.deepEqual(
      post.failures.map((one) => one.class),
      [index === 0 ? "upstream-closed" : "reset"],
    );
  }
});

test("a copy that cuts a request is told apart by whether its body had gone out", async () => {
  const reset = await rude("A", (socket) => socket.resetAndDestroy());
  for (const [body, words] of [
    ["{}", /\(sent\)/],
    ["x".repeat(8 * 1024 * 1024), /\(sending\)/],
  ] as const) {
    const setup = await proxy([reset]);
    assert.equal((await ask(setup, "POST", body)).status, 502);
    assert.match(setup.failures[0]?.text ?? "", words);
  }
});

test("an answer that does not come in time is a 504", async () => {
  const setup = await proxy([await rude("A", () => undefined)], { readTimeoutMs: 200 });
  assert.equal((await ask(setup)).status, 504);
  assert.deepEqual(
    setup.failures.map((one) => one.class),
    ["timeout"],
  );
});

test("an answer that is cut at the copy is cut at the client, and never looks whole", async () => {
  const setup = await proxy([
    await rude("A", (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf");
      setTimeout(() => socket.destroy(), 50);
    }),
  ]);
  const answer = await ask(setup);
  assert.deepEqual([answer.status, answer.whole], [200, false]);
  assert.equal(setup.failures.length, 1);
});

test("with no copy left every request is a 502", async () => {
  const setup = await proxy([]);
  assert.equal((await ask(setup)).status, 502);
  assert.deepEqual(
    setup.failures.map((one) => one.class),
    ["no-upstream"],
  );
});

test("a new set is followed by the next request, and those in flight finish where they are", async () => {
  let release: (() => void) | null = null;
  const arrived = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held: { answer?: () => void } = {};
  const a = await copy("A", (_req, res) => {
    held.answer = () => void res.end("A");
    release?.();
  });
  const setup = await proxy([a]);
  const inFlight = ask(setup);
  await arrived;
  setup.proxy.set([await copy("B", says("B"))]);
  assert.equal((await ask(setup)).text, "B");
  held.answer?.();
  assert.equal((await inFlight).text, "A");
});

test("upstream keep-alive reuses connections until the copy is removed; without it there is one for each", async () => {
  for (const upstreamKeepAlive of [true, false]) {
    const sockets = new Set<Socket>();
    const a = await copy("A", (req, res) => {
      sockets.add(req.socket);
      res.end("A");
    });
    const setup = await proxy([a], { upstreamKeepAlive });
    for (let n = 0; n < 3; n += 1) {
      await ask(setup);
    }
    assert.equal(sockets.size, upstreamKeepAlive ? 1 : 3);
    const [pooled] = sockets;
    if (upstreamKeepAlive && pooled !== undefined) {
      const closed = new Promise((resolve) => void pooled.once("close", resolve));
      setup.proxy.set([]);
      await closed;
    }
  }
});

test("the client's connection stays open only with client keep-alive", async () => {
  const a = await copy("A", says("A"));
  const agent = new Agent({ keepAlive: true });
  closers.push(() => agent.destroy());
  for (const clientKeepAlive of [true, false]) {
    const answer = await ask(await proxy([a], { clientKeepAlive }), "GET", "", agent);
    assert.equal(answer.headers.connection, clientKeepAlive ? "keep-alive" : "close");
  }
});
