// `node connections.mjs PORT RATE`: an open loop of new connections, RATE a second, one GET on each, until standard input
// ends; then one line of JSON. A connection starts on time whether or not the earlier ones are through, and its time counts
// from when it should have started. `PORT RATE pool`: POSTs over 64 kept-alive connections instead.
import http from "node:http";
import net from "node:net";

const [port, rate] = process.argv.slice(2).map(Number);
const pooled = process.argv[4] === "pool";
/** A connection that waits longer is lost: somebody holds it who never answers. */
const PATIENCE_MS = 30_000;
const STEP_MS = 5;

const outcomes = {};
const pids = new Set();
let sent = 0;
let open = 0;
let slowestMs = 0;
let latestMs = 0;
let ending = false;

function over(outcome, dueAt, body) {
  open -= 1;
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  slowestMs = Math.max(slowestMs, performance.now() - dueAt);
  const pid = /pid (\d+)/.exec(body ?? "")?.[1];
  if (pid !== undefined) pids.add(pid);
  if (ending && open === 0) report();
}

function connect(dueAt) {
  let text = "";
  let failure = null;
  const socket = net.connect({ host: "127.0.0.1", port });
  socket.setTimeout(PATIENCE_MS, () => {
    failure = "timeout";
    socket.destroy();
  });
  socket.setEncoding("latin1");
  socket.write("GET / HTTP/1.1\r\nHost: load\r\nConnection: close\r\n\r\n");
  socket.on("data", (part) => {
    text += part;
  });
  socket.on("error", (error) => {
    failure ??= error.code;
  });
  socket.on("close", () => {
    // Whole: a status, and a body as long as it was promised to be.
    const [head = "", body = ""] = text.split("\r\n\r\n", 2);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? -1);
    const status = /^HTTP\/1\.1 (\d+)/.exec(head)?.[1];
    const isWhole = status !== undefined && body.length === length;
    over(isWhole ? status : (failure ?? (text === "" ? "no answer" : "cut")), dueAt, body);
  });
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 64, scheduling: "fifo" });

function post(dueAt) {
  let done = false;
  const finish = (outcome, body) => {
    if (!done) over(outcome, dueAt, body);
    done = true;
  };
  const request = http.request({ host: "127.0.0.1", port, method: "POST", agent, timeout: PATIENCE_MS });
  request.on("timeout", () => request.destroy(new Error("timeout")));
  request.on("error", (error) => finish(error.code ?? error.message));
  request.on("response", (response) => {
    let body = "";
    response.setEncoding("latin1").on("data", (part) => {
      body += part;
    });
    response.on("error", () => finish("cut"));
    response.on("end", () => finish(String(response.statusCode), body));
  });
  request.end("order");
}

const startedAt = performance.now();
const timer = setInterval(() => {
  const now = performance.now();
  for (let dueAt = startedAt + (sent * 1000) / rate; dueAt <= now; dueAt = startedAt + (sent * 1000) / rate) {
    latestMs = Math.max(latestMs, now - dueAt);
    sent += 1;
    open += 1;
    (pooled ? post : connect)(dueAt);
  }
}, STEP_MS);

function report() {
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    JSON.stringify({
      sent,
      outcomes,
      copies: pids.size,
      slowestMs: Math.round(slowestMs),
      latestMs: Math.round(latestMs),
      seconds: Math.round(seconds * 10) / 10,
    }),
  );
  process.exit(0);
}

process.stdin.resume().on("end", () => {
  clearInterval(timer);
  ending = true;
  if (open === 0) report();
});
console.error("under way");
