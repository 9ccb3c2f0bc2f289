// An app that insists on its connections, in eight ways: a framework's default, a proxy that passes headers on, a load balancer's advice.
import { setTimeout as sleep } from "node:timers/promises";
import { joined, sumUp } from "./apparatus/judge.mjs";
import { rollout } from "./apparatus/rollout.mjs";
import { openPool, orderBytes } from "./apparatus/sockets.mjs";
import { startTarget } from "./apparatus/target.mjs";

const CLIENTS = 64;
const SHAPES = 8;
const DELAY_MS = 600;

/** One client of a pool: order after order on its connection, until an answer tells it to go, or the connection is no more. */
async function customer(client, name, shape, isStopping) {
  const asked = [];
  for (let n = 0; client.isOpen; n += 1) {
    const id = `${name}-${n}`;
    const begun = isStopping();
    // A pool sends its next request when the answer has come.
    const fate = await client.ask(orderBytes(id, `/orders?ms=0&shape=${shape}&`));
    asked.push({ id, fate, begun });
    if (fate.kind !== "served" || /^connection: *close/im.test(fate.head)) break;
    await sleep(5 + ((n * 7) % 10));
  }
  client.close();
  return asked;
}

async function direct(stop, { folder }, prefix) {
  const target = await startTarget(
    stop,
    {
      LASTCALL_DRAIN_DELAY: `${DELAY_MS}ms`,
      LASTCALL_LEAVE_ORDER: "announce-first",
      BY_HAND_MS: String(DELAY_MS),
      STALL: "gate:40",
    },
    folder,
  );
  const pool = await openPool(target.port, CLIENTS);
  let stopping = false;
  const customers = pool.map((client, n) => customer(client, `${prefix}-${n}`, n % SHAPES, () => stopping));
  await sleep(200);
  target.signal();
  await target.line("signal");
  stopping = true;
  const asked = (await Promise.all(customers)).flat();
  await target.gone(10_000);
  const after = asked.filter(({ begun }) => begun);
  const answers = after.filter(({ fate }) => fate.kind === "served");
  return {
    ...joined(asked, target.executed()),
    exposed: after.length,
    more: {
      "answers that kept the client": answers.filter(
        ({ fate }) => !/^connection: *close\r?$/im.test(fate.head),
      ).length,
      "answers with Keep-Alive": answers.filter(({ fate }) => /^keep-alive:/im.test(fate.head)).length,
    },
  };
}

export const attack = {
  name: "own-keep-alive",
  title: "An app that sets its keep-alive headers itself",
  argument:
    "`Connection: close` is what makes clients leave in time. The app sends `Connection: keep-alive` and `Keep-Alive: timeout=60` by itself, with writeHead, as an array, by setHeader, at the last moment, and beats whoever has set the header before. So its clients stay, and are cut at the gate, in which the loop stands still for 40 ms.",
  promise:
    "A4: with a drain delay every response from the signal on carries `Connection: close`, whatever the app itself sets.",
  clauses: ["A4"],
  remains: "nothing may be",
  rows: [
    {
      name: "64 pooled clients, eight ways",
      control: "by-hand",
      stops: 3,
      limits: { lost: 0, "answers that kept the client": 0, "answers with Keep-Alive": 0 },
      hurts: { lost: 1, "answers that kept the client": 1 },
    },
    ...["embedded", "haproxy"].map((router) => ({
      name: `${router} at layer 4, pooled clients`,
      router,
      control: "by-hand",
      limits: { lost: 0, "acknowledged and not stored": 0 },
      hurts: { lost: 1 },
    })),
  ],
  async run(row, stop, stand) {
    if (row.router !== undefined) {
      return rollout(
        {
          stop,
          settings: { OWN_KEEP_ALIVE: "1", STALL: "gate:40", BY_HAND_MS: "1500" },
          args: [
            "--propagation=1s",
            "--drain-delay=1500ms",
            "--client-keepalive",
            "--pooled-at-removal=pinned",
            "--rate=200",
            `--router=${row.router}`,
          ],
          mix: [{ name: "order", method: "POST", path: "/orders?ms=10&id={id}" }],
        },
        stand.folder,
      );
    }
    const stops = [];
    for (let n = 0; n < row.stops; n += 1) stops.push(await direct(stop, stand, `s${n}`));
    return sumUp(stops);
  },
  says: ({ row, lastcall, control }) =>
    row.router === undefined
      ? `Every one of ${lastcall.exposed} answers after the signal told its client to go, and ${lastcall.lost} orders were lost; a drain delay by hand was overruled in ${control.more["answers that kept the client"]} answers and lost ${control.lost}.`
      : `${lastcall.lost} lost; a drain delay by hand, overruled by the app, lost ${control.lost}.`,
};
