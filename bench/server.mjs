// The server under measurement, in three kinds: `floor` exits by itself as soon as its last response is out (nothing can be
// faster), `cut` destroys every connection at its deadline and exits a turn later, `close` is `server.close(() => process.exit(0))`, `lastcall` is the library with its defaults.
import http from "node:http";

const [kind, extra = "{}"] = process.argv.slice(2);
let seen = 0;
let inFlight = 0;
let stopping = false;

/** What the process computes from here to its exit; on a busy machine the time that passes says little. */
function teardown() {
  const before = process.cpuUsage();
  process.once("exit", () => {
    const { user, system } = process.cpuUsage(before);
    process.send({ computedMs: (user + system) / 1000 });
  });
}

const server = http.createServer((req, res) => {
  seen += 1;
  if (req.url === "/stuck") return;
  if (req.url === "/head") {
    res.write("a beginning");
    return;
  }
  const ms = Number(new URL(req.url, "http://bench").searchParams.get("ms") ?? 0);
  if (ms === 0) res.end("ok");
  else setTimeout(() => res.end("ok"), ms);
});
// Idle connections are to stay idle for as long as a benchmark takes.
server.keepAliveTimeout = 300_000;
server.requestTimeout = 0;

if (kind === "floor") {
  server.prependListener("request", (_req, res) => {
    inFlight += 1;
    res.once("close", () => {
      inFlight -= 1;
      if (stopping && inFlight === 0) process.exit(0);
    });
  });
  process.on("SIGTERM", () => {
    stopping = true;
  });
} else if (kind === "cut") {
  process.on("SIGTERM", () => {
    setTimeout(() => {
      teardown();
      server.closeAllConnections();
      setImmediate(() => setImmediate(() => process.exit(3)));
    }, JSON.parse(extra).gracefulTimeoutMs);
  });
} else if (kind === "close") {
  process.on("SIGTERM", () => server.close(() => process.exit(0)));
} else {
  const { createLifecycle } = await import("lastcall");
  const { measured = false, ...options } = JSON.parse(extra);
  const life = createLifecycle({ gracePeriodMs: 60_000, drainDelayMs: 0, ...options });
  life.http(server);
  if (measured) {
    life.events.on("state", ({ to }) => {
      if (to === "teardown") teardown();
    });
  }
  server.once("listening", () => life.ready());
}

process.on("message", (message) => {
  if (message === "seen") process.send({ seen });
  if (message !== "memory") return;
  globalThis.gc();
  globalThis.gc();
  process.send({ memory: process.memoryUsage() });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () =>
  process.send({ port: server.address().port }),
);
