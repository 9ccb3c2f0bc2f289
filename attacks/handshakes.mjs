// TLS handshakes that are half done when the gate closes: some come to their end in the window, some never.
import net from "node:net";
import { Duplex } from "node:stream";
import tls from "node:tls";
import { setTimeout as sleep } from "node:timers/promises";
import { joined, sumUp } from "./apparatus/judge.mjs";
import { Client, orderBytes } from "./apparatus/sockets.mjs";
import { startTarget } from "./apparatus/target.mjs";

const EACH = 50;
/** Four times the default: what a busy machine makes late is not to be held against the service. */
const LINGER_MS = 1000;
/** When the last of them goes on. */
const LAST_MS = 400;
/** The beginning of a ClientHello, and no more. */
const HALF_HELLO = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]);
/** From when on a process is said to be held: the window is over, and everything else is, too. */
const HELD_MS = LINGER_MS + 1500;

function connected(port) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: "127.0.0.1", port });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.removeListener("error", reject);
      // What befalls it from here on its end tells.
      socket.on("error", () => socket.destroy());
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

/** A socket whose first write goes out by half, and by the other half when it is told. */
function splitSocket(socket, secondHalf) {
  let first = true;
  const split = new Duplex({
    read() {},
    write(bytes, _, done) {
      if (!first) return void socket.write(bytes, done);
      first = false;
      const half = bytes.length >> 1;
      socket.write(bytes.subarray(0, half));
      void secondHalf.then(() => socket.write(bytes.subarray(half), done));
    },
    final: (done) => socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (part) => split.push(part));
  socket.on("end", () => split.push(null));
  socket.on("error", (error) => split.destroy(error));
  return split;
}

/** The handshake, then one POST. `told`: it came to no end, so that nothing was sent. */
async function order(socket, id) {
  if (socket.destroyed) return { id, fate: { kind: "told", why: "closed" } };
  const secure = tls.connect({ socket, rejectUnauthorized: false });
  const end = await new Promise((resolve) => {
    secure.once("secureConnect", () => resolve(null));
    secure.once("error", (error) => resolve(error.code ?? error.message));
    secure.once("close", () => resolve("closed"));
  });
  if (end !== null) return { id, fate: { kind: "told", why: end } };
  const client = new Client(secure);
  const fate = await client.ask(orderBytes(id));
  client.close();
  return { id, fate };
}

async function oneStop(stop, { folder }, prefix) {
  const target = await startTarget(
    stop,
    { TLS: "1", LASTCALL_DRAIN_DELAY: "0", LASTCALL_LINGER: `${LINGER_MS}ms` },
    folder,
  );
  const sockets = await Promise.all(Array.from({ length: EACH * 3 }, () => connected(target.port)));
  const silent = sockets.splice(0, EACH);
  // In progress at the gate: nothing of the handshake has come, or half of its first message.
  silent.forEach((socket, n) => n % 2 === 0 && socket.write(HALF_HELLO));
  silent.forEach((socket) => socket.resume());
  let passGate;
  const gate = new Promise((resolve) => (passGate = resolve));
  const due = (n) => gate.then(() => sleep((n / EACH) * LAST_MS));
  const late = sockets.splice(0, EACH).map(async (socket, n) => {
    await due(n);
    return order(socket, `${prefix}-late-${n}`);
  });
  const split = sockets.map((socket, n) => order(splitSocket(socket, due(n)), `${prefix}-split-${n}`));
  await sleep(150);
  target.signal();
  const gateAt = (await target.line("gate")).at;
  passGate();
  const asked = await Promise.all([...late, ...split]);
  const { at, killed } = await target.gone(HELD_MS + 1000);
  silent.forEach((socket) => socket.destroy());
  const heldMs = at - gateAt;
  const told = asked.filter(({ fate }) => fate.kind === "told").length;
  return {
    ...joined(asked, target.executed()),
    exposed: asked.length,
    more: {
      served: asked.filter(({ fate }) => fate.kind === "served").length,
      refused: asked.filter(({ fate }) => fate.kind === "refused").length,
      "handshakes ended by the service": told,
      "stops held up by silent clients": killed || heldMs > HELD_MS ? 1 : 0,
    },
  };
}

export const attack = {
  name: "handshakes",
  title: "TLS handshakes in progress at the gate",
  argument:
    "A handshake is no request, and no idle connection either: 50 clients are connected and have not begun theirs, 50 have sent half of their first message, 50 more begin and never go on. The first hundred come to their end within the window and send a POST.",
  promise:
    "B8: a first request that comes within the linger window is served, and no handshake holds the process longer than that.",
  clauses: ["B8", "B9"],
  remains: "nothing may be",
  rows: [
    {
      name: "150 handshakes a stop",
      control: "usual",
      stops: 3,
      limits: {
        lost: 0,
        refused: 0,
        "handshakes ended by the service": 0,
        "stops held up by silent clients": 0,
      },
      hurts: { "stops held up by silent clients": 1 },
    },
  ],
  async run(row, stop, stand) {
    const stops = [];
    for (let n = 0; n < row.stops; n += 1) stops.push(await oneStop(stop, stand, `s${n}`));
    return sumUp(stops);
  },
  says: ({ lastcall, control, row }) =>
    `${lastcall.more.served} of ${lastcall.exposed} handshakes in progress were completed and their POST served, and no stop was held up. The usual stop serves them too, but was held up by the silent ones in ${control.more["stops held up by silent clients"]} of ${row.stops} stops, until it was killed.`,
};
