// The service under attack, one for all of them. STOP says how it stops: by the library, or in one of the ways that one meets.
// Everything else is the same in each: the routes, a stalled loop (STALL=gate:50), what the app says of its connections
// (OWN_KEEP_ALIVE=1), and the file EXECUTED, which has an order's id before its client has an answer.
import { createHash } from "node:crypto";
import { openSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { createLifecycle } from "lastcall";

const { COPY = `${process.pid}`, EXECUTED, PORT = "0", STALL = "", STOP = "usual", TLS } = process.env;
const setting = (name, ifMissing) => Number(process.env[name] ?? ifMissing);
const WORK_MS = setting("WORK_MS", 100);
const HOLD_MS = setting("HOLD_MS", 0);
const BY_HAND_MS = setting("BY_HAND_MS", 0);
const FORCED_MS = setting("FORCED_MS", 1000);
const [stallAt, stallMs] = STALL.split(":");
const executed = EXECUTED === undefined ? null : openSync(EXECUTED, "a");
let stopping = false;
/** True for a request that the way of stopping has answered itself. */
let answered = () => false;

/** The clock that all processes of a machine share. */
const now = () => Number(process.hrtime.bigint()) / 1e6;

/** One line of JSON, out before anything else happens. */
function say(event, more = {}) {
  writeSync(1, `${JSON.stringify({ event, at: now(), ...more })}\n`);
}

/** What a garbage collection, a large JSON.parse or a synchronous read does to the loop. */
function stall(at) {
  if (at !== stallAt) return;
  const end = now() + Number(stallMs);
  while (now() < end);
}

/** Eight ways in which an app insists on its connection. */
const INSISTENT = [
  (response) => response.writeHead(200, { Connection: "keep-alive", "Keep-Alive": "timeout=60" }),
  (response) => response.writeHead(200, "OK", { connection: "keep-alive", "keep-alive": "timeout=60" }),
  (response) => response.writeHead(200, ["Connection", "keep-alive", "Keep-Alive", "timeout=60"]),
  (response) => response.setHeader("Connection", "keep-alive").setHeader("Keep-Alive", "timeout=60"),
  (response) => response.setHeader("Connection", "Keep-Alive").writeHead(200),
  (response) => {
    response.shouldKeepAlive = true;
    response.setHeader("connection", ["keep-alive"]);
  },
  (response) => response.appendHeader("Connection", "keep-alive").writeHead(200, { "X-App": "1" }),
  (response) => {
    // Late, and over whatever somebody else has set before.
    response.removeHeader("connection");
    response.writeHead(200, { CONNECTION: "Keep-Alive", "KEEP-ALIVE": "timeout=60, max=1000" });
  },
];

function answer(response, status, body, shape = null) {
  const text = JSON.stringify(body);
  if (shape !== null) {
    INSISTENT[shape](response);
    return response.end(text);
  }
  const headers = { "content-type": "application/json", "content-length": text.length };
  if (process.env.OWN_KEEP_ALIVE === "1") {
    Object.assign(headers, { connection: "keep-alive", "keep-alive": "timeout=60" });
  }
  response.writeHead(status, headers);
  return response.end(text);
}

async function bytesOf(request) {
  let bytes = 0;
  for await (const part of request) bytes += part.length;
  return bytes;
}

/** An answer without a length: over HTTP/1.0 its end is the end of the connection. The head promises what the body will be. */
async function stream(response, ms) {
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n + 1} of 20\n`);
  const digest = createHash("sha256").update(lines.join("")).digest("base64");
  response.writeHead(200, { "content-type": "text/plain", "content-digest": `sha-256=:${digest}:` });
  for (const line of lines) {
    if (response.destroyed) return;
    response.write(line);
    await sleep(ms / lines.length);
  }
  response.end();
}

async function app(request, response) {
  const url = new URL(request.url, "http://service");
  const id = url.searchParams.get("id") ?? "";
  const ms = Number(url.searchParams.get("ms") ?? WORK_MS);
  response.setHeader("x-lastcall-copy", COPY);
  if (url.pathname === "/ready") return answer(response, stopping ? 503 : 200, {});
  if (url.pathname === "/stream") return stream(response, ms);
  if (request.method !== "POST") {
    if (ms > 0) await sleep(ms);
    return answer(response, 200, { id });
  }
  const bytes = await bytesOf(request);
  // The order is taken first and acknowledged later, as behind a slow mail or a slow disk.
  const first = url.searchParams.has("first");
  if (!first && ms > 0) await sleep(ms);
  if (executed !== null) writeSync(executed, `${id}\n`);
  if (first) await sleep(ms);
  return answer(response, 201, { id, bytes }, url.searchParams.get("shape"));
}

async function serve() {
  const handler = (request, response) => {
    if (!answered(request, response)) void app(request, response).catch(() => response.destroy());
  };
  if (TLS !== "1") return createServer(handler);
  const { TEST_ONLY_CERTIFICATE, TEST_ONLY_KEY } =
    await import("../../packages/lab/dist/test/fixtures/test-only-certificate.js");
  return createTlsServer({ cert: TEST_ONLY_CERTIFICATE, key: TEST_ONLY_KEY }, handler);
}

/** Each is what stands in somebody's program. */
const STOPS = {
  lastcall(server) {
    const life = createLifecycle({ probePaths: { ready: "/ready", live: "/live" } });
    life.events.on("signal", () => {
      say("signal");
      stall("signal");
      if (HOLD_MS > 0) void life.task("held", () => sleep(HOLD_MS));
    });
    life.events.on("state", ({ to }) => {
      if (to !== "draining") return;
      stall("gate");
      say("gate");
    });
    answered = (request, response) => life.probes(request, response);
    life.http(server);
    server.once("listening", () => life.ready());
  },
  /** The tutorial's. */
  usual(server) {
    onStop(() => {
      stall("gate");
      say("gate");
      server.close(() => process.exit(0));
    });
  },
  /** The tutorial's second part: a limit, by which the process exits whatever it does. */
  forced(server) {
    onStop(() => {
      say("gate");
      server.close(() => process.exit(0));
      setTimeout(() => process.exit(1), FORCED_MS);
    });
  },
  /** A drain delay by hand: not ready, `Connection: close` on what is answered, then the tutorial's. */
  "by-hand"(server) {
    answered = (_, response) => {
      if (stopping) response.setHeader("Connection", "close");
      return false;
    };
    onStop(() => {
      setTimeout(() => {
        stall("gate");
        say("gate");
        server.close(() => process.exit(0));
      }, BY_HAND_MS);
    });
  },
  /** A 503 to all that comes, and not a byte of its body read. */
  refuses(server) {
    answered = (_, response) => {
      if (!stopping) return false;
      response.writeHead(503, { connection: "close", "content-length": 8 });
      response.end("draining");
      return true;
    };
    onStop(() => {
      say("gate");
      setTimeout(() => server.close(() => process.exit(0)), HOLD_MS);
    });
  },
  /** No handler at all, or one that exits. */
  exits() {
    onStop(() => {
      say("gate");
      process.exit(0);
    });
  },
};

function onStop(then) {
  process.once("SIGTERM", () => {
    stopping = true;
    say("signal");
    stall("signal");
    then();
  });
}

const server = await serve();
STOPS[STOP](server);
server.listen({ port: Number(PORT), host: "127.0.0.1", backlog: 511 }, () => {
  say("listening", { port: server.address().port });
});
