// The HTTP/2 server under measurement: every stream is held until the process was told to stop and `holdMs` have passed,
// then all are answered, at once or over `overMs`. Kinds: `floor` destroys every session and exits when its last stream
// has closed (nothing can be faster and still know that all is answered), `lastcall` is the library.
import http2 from "node:http2";

const [kind, extra = "{}"] = process.argv.slice(2);
const { holdMs = 1500, overMs = 0, ...options } = JSON.parse(extra);
const held = [];
const sessions = new Set();
let open = 0;

function answer(stream) {
  stream.respond({ ":status": 200 });
  stream.end("ok");
}

const server = http2.createServer();
server.on("stream", (stream) => held.push(stream));
process.on("SIGTERM", () => {
  setTimeout(() => {
    if (overMs === 0) {
      held.forEach(answer);
      return;
    }
    const beganMs = performance.now();
    let next = 0;
    const timer = setInterval(() => {
      const due = Math.min(held.length, Math.ceil(((performance.now() - beganMs) / overMs) * held.length));
      for (; next < due; next += 1) answer(held[next]);
      if (next === held.length) clearInterval(timer);
    }, 5);
  }, holdMs);
});

function teardown() {
  const before = process.cpuUsage();
  process.once("exit", () => {
    const { user, system } = process.cpuUsage(before);
    process.send({ computedMs: (user + system) / 1000 });
  });
}

if (kind === "floor") {
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream) => {
    open += 1;
    stream.once("close", () => {
      open -= 1;
      if (open === 0) {
        teardown();
        sessions.forEach((session) => session.destroy());
        process.exit(0);
      }
    });
  });
} else {
  const { createLifecycle } = await import("lastcall");
  const life = createLifecycle({
    gracePeriodMs: 120_000,
    drainDelayMs: 0,
    gracefulTimeoutMs: 60_000,
    ...options,
  });
  life.http(server);
  life.events.on("state", ({ to }) => {
    if (to === "teardown") teardown();
  });
  server.once("listening", () => life.ready());
}

process.on("message", (message) => {
  if (message === "seen") process.send({ seen: held.length });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () =>
  process.send({ port: server.address().port }),
);
