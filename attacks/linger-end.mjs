// POSTs on a thousand pooled connections, aimed at the very moment in which a service closes them.
import { setTimeout as sleep } from "node:timers/promises";
import { joined, sumUp } from "./apparatus/judge.mjs";
import { openPool, orderBytes } from "./apparatus/sockets.mjs";
import { now, startTarget } from "./apparatus/target.mjs";

const CONNECTIONS = 1000;
const LINGER_MS = 250;
/** The control closes its idle connections when the signal has come; from kill() to there. */
const DELIVERY_MS = 1;

/** When the shots of a stop are due, from the closing. */
const PATTERNS = {
  /** One on each connection, as dense as one thread can write. */
  salvo: Array.from({ length: CONNECTIONS }, (_, n) => -6 + n * (16 / CONNECTIONS)),
  /** One each millisecond, on every fourth connection: the loop has time to get to the closing, which goes on meanwhile. */
  snipers: Array.from({ length: CONNECTIONS / 4 }, (_, n) => -20 + n),
};

/** Writes each order when it is due, and does what else is due before. */
async function shoot(clients, offsets, aimAt, prefix, signalAt, signal) {
  const asked = [];
  const every = Math.floor(clients.length / offsets.length);
  let signalled = signalAt === null;
  for (const [n, offset] of offsets.entries()) {
    for (;;) {
      if (!signalled && now() >= signalAt) {
        signal();
        signalled = true;
      }
      if (now() >= aimAt + offset) break;
      // Answers and ends are read between the shots, as a client's loop does.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const id = `${prefix}-${n}`;
    const client = clients[n * every];
    const order = client.ask(orderBytes(id));
    asked.push({ id, sentAt: client.sentAt, order });
  }
  return Promise.all(asked.map(async ({ id, sentAt, order }) => ({ id, sentAt, fate: await order })));
}

function bandOf(offsetMs) {
  return offsetMs < -1 ? "before" : offsetMs <= 1 ? "within 1 ms" : "after";
}

async function oneStop({ holdMs, pattern }, stop, { folder }, prefix) {
  const target = await startTarget(
    stop,
    { WORK_MS: "0", LASTCALL_DRAIN_DELAY: "0", LASTCALL_LINGER: `${LINGER_MS}ms`, HOLD_MS: String(holdMs) },
    folder,
  );
  const clients = await openPool(target.port, CONNECTIONS);
  await sleep(100);
  let asked;
  let closesAt;
  if (stop === "lastcall") {
    target.signal();
    closesAt = (await target.line("gate")).at + LINGER_MS;
    asked = await shoot(clients, PATTERNS[pattern], closesAt, prefix, null);
  } else {
    const signalAt = now() + 50;
    asked = await shoot(clients, PATTERNS[pattern], signalAt + DELIVERY_MS, prefix, signalAt, target.signal);
    closesAt = (await target.line("gate")).at;
  }
  await target.gone(10_000);
  clients.forEach((client) => client.close());
  const more = {};
  for (const { sentAt, fate } of asked) {
    const band = bandOf(sentAt - closesAt);
    const name = `${fate.kind} ${band}`;
    more[name] = (more[name] ?? 0) + 1;
  }
  return { ...joined(asked, target.executed()), more };
}

const COUNTED = ["before", "within 1 ms", "after"].flatMap((band) =>
  ["served", "refused", "lost", "told"].map((kind) => `${kind} ${band}`),
);

export const attack = {
  name: "linger-end",
  title: "POSTs at the end of the linger window, on 1,000 pooled connections",
  argument:
    "A kept-alive connection must be closed at some moment, and a POST that is written at that moment meets a closed door. Aim at it: 1,000 idle connections, a POST on each, most of them within a millisecond of the closing.",
  promise:
    "A5: a request that comes within the window is served. One that comes when it is over gets a clean 503 or finds its connection closed; that remainder is stated, not hidden, and none of it was executed, so that it is safe to send again.",
  clauses: ["A5", "A9"],
  remains: "written when the window was over",
  found:
    "A request that came within the window and was read by a late loop when it was over got a 503: it is served now. Idle connections were closed in one go, which takes 20 ms for a thousand on a busy machine: they are closed a few at a time now, and what comes meanwhile on the others is read. A crowd of them with nothing else in flight is still left to the exit, which comes at once (B7): that is the remainder in the second row.",
  rows: [
    { name: "all at once", pattern: "salvo", stops: 6, holdMs: 0 },
    { name: "one each ms, nothing else in flight", pattern: "snipers", stops: 4, holdMs: 0 },
    { name: "one each ms, work in flight", pattern: "snipers", stops: 4, holdMs: 700 },
  ].map((row) => ({
    ...row,
    control: "usual",
    limits: { "lost before": 0, "refused before": 0 },
    hurts: { lost: 1 },
  })),
  async run(row, stop, stand) {
    const stops = [{ more: Object.fromEntries(COUNTED.map((name) => [name, 0])) }];
    for (let n = 0; n < row.stops; n += 1) stops.push(await oneStop(row, stop, stand, `s${n}`));
    return sumUp(stops);
  },
  says: ({ lastcall, control }) => {
    const within = ["served", "refused", "lost"].reduce(
      (sum, kind) => sum + lastcall.more[`${kind} within 1 ms`],
      0,
    );
    return `${lastcall.more["lost before"]} lost of the POSTs written before the closing was due, ${lastcall.more["lost within 1 ms"]} of ${within} within 1 ms of it, ${lastcall.more["lost after"]} later, while the connections were being closed; ${lastcall.lostExecuted === 0 ? "none of them was executed" : `${lastcall.lostExecuted} of them were executed`}. The usual stop lost ${control.lost}, aimed at in the same way.`;
  },
};
