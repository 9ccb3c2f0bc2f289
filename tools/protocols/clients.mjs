// The clients of each case: what they do over the stop, what they saw, and what of it must hold.
import { once } from "node:events";
import grpc from "@grpc/grpc-js";
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import { service as healthService } from "grpc-health-check";
import { TEST_ONLY_CERTIFICATE } from "../../packages/lab/dist/test/fixtures/test-only-certificate.js";
import { definition } from "./cases/grpc-definition.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const count = (values) => {
  const counts = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};

/** `ws` clients that each keep `inFlight` messages under way, or only listen. */
function webSockets(clients, inFlight, options = {}) {
  return async (port, stop) => {
    const seen = { errors: 0, echoes: 0, wrong: 0, codes: {} };
    const codes = [];
    const times = [];
    let begun = 0;
    const sockets = Array.from({ length: clients }, () => new WebSocket(`ws://127.0.0.1:${port}`, options));
    const closed = sockets.map(async (socket) => {
      let next = 0;
      let expected = 0;
      const text = (n) => `${n} ${"x".repeat(n % 700)}`;
      socket.on("error", () => (seen.errors += 1));
      socket.on("message", (message) => {
        seen.echoes += 1;
        if (inFlight > 0) {
          if (new TextDecoder().decode(message) !== text(expected++)) seen.wrong += 1;
          if (socket.readyState === WebSocket.OPEN) setTimeout(() => socket.send(text(next++), () => {}), 1);
        } else if (message.length !== 100_000) {
          seen.wrong += 1;
        }
      });
      socket.on("open", () => {
        for (let n = 0; n < inFlight; n += 1) socket.send(text(next++));
      });
      const [code] = await once(socket, "close");
      codes.push(code);
      times.push(performance.now() - begun);
    });
    await Promise.all(sockets.map((socket) => once(socket, "open")));
    await pause(200);
    begun = stop();
    await Promise.all(closed);
    seen.codes = count(codes);
    const quarters = [0, 0, 0, 0];
    for (const time of times) quarters[Math.min(3, Math.max(0, Math.floor(time / 375)))] += 1;
    return { ...seen, closedPerQuarterOfTheDelay: quarters };
  };
}

/** What the record must say; the others write none. */
const says = (seen, party, outcome) => party !== "lastcall" || seen.record.outcome === outcome;

const allTold = (clients) => (seen, party) =>
  seen.exit === 0 &&
  seen.errors + seen.wrong === 0 &&
  seen.codes[1001] === clients &&
  says(seen, party, "drained") &&
  Math.max(...seen.closedPerQuarterOfTheDelay) < 0.85 * clients;

async function socketIo(port, stop) {
  const clients = Array.from({ length: 50 }, () => io(`http://127.0.0.1:${port}`, { reconnection: false }));
  await Promise.all(clients.map((client) => once(client, "connect")));
  await pause(300);
  const transports = count(clients.map((client) => client.io.engine.transport.name));
  const reasons = [];
  let answered = 0;
  const gone = clients.map(async (client) => {
    const [reason] = await once(client, "disconnect");
    reasons.push(reason);
  });
  const asking = setInterval(() => {
    for (const client of clients) if (client.connected) client.emit("echo", "x", () => (answered += 1));
  }, 20);
  stop();
  await Promise.all(gone);
  clearInterval(asking);
  return { transports, reasons: count(reasons), answered };
}

const PLAIN = grpc.credentials.createInsecure();
const TLS = grpc.credentials.createSsl(Buffer.from(TEST_ONLY_CERTIFICATE));

function grpcCalls(port, credentials = PLAIN) {
  const Client = grpc.makeGenericClientConstructor(definition, "Texts");
  return new Client(`127.0.0.1:${port}`, credentials, {
    "grpc.enable_retries": 0,
    // Else all clients of one process share a connection.
    "grpc.use_local_subchannel_pool": 1,
  });
}

const name = (error) => (error === null ? "OK" : grpc.status[error.code]);
const status = (call) =>
  new Promise((resolve) => call.on("status", ({ code }) => resolve(grpc.status[code])));

/** Unary calls without a pause on many channels, and a stream of each kind that is in flight at the gate. */
async function grpcMixed(port, stop, credentials = PLAIN) {
  const unary = [];
  const clients = Array.from({ length: 10 }, () => grpcCalls(port, credentials));
  const over = new AbortController();
  const load = clients.map(async (client) => {
    while (!over.signal.aborted) {
      const answer = await new Promise((resolve) =>
        client.unary("20", { deadline: Date.now() + 5000 }, (error) => resolve(name(error))),
      );
      unary.push(answer);
      // The service is gone for this client: a real one goes to the next copy.
      if (answer === "UNAVAILABLE") return;
    }
  });
  await pause(300);
  const streams = grpcCalls(port, credentials);
  const list = streams.list("150");
  let listed = 0;
  list.on("data", () => (listed += 1)).on("error", () => {});
  const collected = new Promise((resolve) => {
    const call = streams.collect((error, text) => resolve(error === null ? `OK ${text}` : name(error)));
    for (let n = 0; n < 5; n += 1) setTimeout(() => call.write(String(n)), n * 500);
    setTimeout(() => call.end(), 2500);
  });
  const chat = streams.chat();
  let chatted = 0;
  chat.on("data", () => (chatted += 1)).on("error", () => {});
  const talking = setInterval(() => chat.write("x"), 50);
  setTimeout(() => {
    clearInterval(talking);
    chat.end();
  }, 2500);
  const ends = [status(list), collected, status(chat)];
  // In flight, and not on the way: what is opened afterwards is another story.
  await Promise.all([list, chat].map((call) => new Promise((resolve) => call.once("data", resolve))));
  stop();
  const [listEnd, collectEnd, chatEnd] = await Promise.all(ends);
  const result = { list: listEnd, listed, collect: collectEnd, chat: chatEnd, chatted };
  over.abort();
  await Promise.all(load);
  [...clients, streams].forEach((client) => client.close());
  return { unary: count(unary), ...result };
}

/** Who watches the health service hears of the stop while calls are still served. */
async function grpcHealth(port, stop) {
  const Health = grpc.makeClientConstructor(healthService, "Health");
  const health = new Health(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const client = grpcCalls(port);
  const heard = [];
  const watch = health.watch({ service: "" });
  watch.on("error", () => {});
  const told = new Promise((resolve) => {
    watch.on("data", ({ status: now }) => {
      heard.push(now);
      if (now === "NOT_SERVING") resolve();
    });
    watch.on("end", resolve);
    watch.on("close", resolve);
  });
  await once(watch, "data");
  stop();
  await told;
  const call = await new Promise((resolve) => client.unary("20", (error) => resolve(name(error))));
  watch.cancel();
  health.close();
  client.close();
  return { heard, callAfterwards: call };
}

/** A stream that never ends meets the deadline. */
async function grpcEndless(port, stop) {
  const client = grpcCalls(port);
  const call = client.list("100000");
  call.on("data", () => {}).on("error", () => {});
  const end = status(call);
  await pause(200);
  stop();
  const answer = await end;
  client.close();
  return { status: answer };
}

const allOk = (seen, party) =>
  seen.exit === 0 &&
  Object.keys(seen.unary).every((one) => one === "OK" || one === "UNAVAILABLE") &&
  seen.list === "OK" &&
  seen.listed === 150 &&
  seen.collect === "OK 5" &&
  seen.chat === "OK" &&
  says(seen, party, "drained");

export const CASES = {
  "ws, 200 clients: each told with 1001, spread": {
    protocol: "WebSocket",
    peer: "close-with-grace, close(1001) for each client",
    service: "ws.mjs",
    env: {},
    clients: webSockets(200, 1),
    kept: allTold(200),
  },
  "ws with permessage-deflate, 100 busy clients: the same, no message damaged": {
    protocol: "WebSocket",
    peer: "close-with-grace, close(1001) for each client",
    service: "ws.mjs",
    env: { DEFLATE: "1" },
    clients: webSockets(100, 3, { perMessageDeflate: true }),
    kept: allTold(100),
  },
  "ws sending fragments all the time, 20 clients: told with 1001, no message damaged": {
    protocol: "WebSocket",
    peer: "close-with-grace, close(1001) for each client",
    service: "ws.mjs",
    env: { STREAM: "1" },
    clients: webSockets(20, 0),
    // They have much to read before they see it: when is not asked.
    kept: (seen, party) => allTold(20)({ ...seen, closedPerQuarterOfTheDelay: [0] }, party),
  },
  "@fastify/websocket, 100 clients: each told with 1001, spread": {
    protocol: "WebSocket",
    peer: "close-with-grace, app.close()",
    service: "fastify.mjs",
    env: {},
    clients: webSockets(100, 1),
    kept: allTold(100),
  },
  "50 clients are disconnected within the delay": {
    protocol: "Socket.IO",
    peer: "close-with-grace, io.close()",
    service: "socket-io.mjs",
    env: {},
    clients: socketIo,
    kept: (seen, party) =>
      seen.exit === 0 && seen.reasons["transport close"] === 50 && says(seen, party, "drained"),
  },
  "unary calls, and a client, a server and a two-way stream over the gate: each OK": {
    protocol: "gRPC",
    peer: "close-with-grace, tryShutdown()",
    service: "grpc.mjs",
    env: {},
    clients: grpcMixed,
    kept: allOk,
  },
  "the same over TLS": {
    protocol: "gRPC",
    peer: "close-with-grace, tryShutdown()",
    service: "grpc.mjs",
    env: { TLS: "1" },
    clients: (port, stop) => grpcMixed(port, stop, TLS),
    kept: allOk,
  },
  "who watches the health service hears NOT_SERVING, and calls are still served": {
    protocol: "gRPC",
    peer: "close-with-grace, tryShutdown()",
    service: "grpc.mjs",
    env: {},
    clients: grpcHealth,
    kept: (seen, party) =>
      seen.exit === 0 &&
      seen.heard.join(" ") === "SERVING NOT_SERVING" &&
      seen.callAfterwards === "OK" &&
      says(seen, party, "drained"),
  },
  "a stream without an end: not OK at the deadline, and an exit code that says so": {
    protocol: "gRPC",
    peer: "close-with-grace, tryShutdown()",
    service: "grpc.mjs",
    env: { LASTCALL_DRAIN_DELAY: "0", LASTCALL_GRACEFUL_TIMEOUT: "1s" },
    clients: grpcEndless,
    // An exit code that says so is asked of everybody.
    kept: (seen, party) => seen.exit !== 0 && seen.status !== "OK" && says(seen, party, "incomplete"),
  },
};
