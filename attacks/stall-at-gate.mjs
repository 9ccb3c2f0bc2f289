// The event loop stands still for 50 ms at the gate while 500 clients a second connect.
import { joined, sumUp } from "./apparatus/judge.mjs";
import { freshRequest, orderBytes, whys } from "./apparatus/sockets.mjs";
import { startTarget, now } from "./apparatus/target.mjs";

const RATE = 500;
const BEFORE_MS = 300;
const AFTER_MS = 400;

/** An open loop of new connections, one POST on each, from before the signal until some time after the gate. */
async function oneStop({ delay }, stop, { folder }, prefix) {
  const target = await startTarget(
    stop,
    { WORK_MS: "0", LASTCALL_DRAIN_DELAY: delay, BY_HAND_MS: "200", STALL: "gate:50" },
    folder,
  );
  const asked = [];
  const startedAt = now();
  let endsAt = Number.POSITIVE_INFINITY;
  let sent = 0;
  let signalledAt = null;
  await new Promise((resolve) => {
    const timer = setInterval(() => {
      for (; startedAt + (sent * 1000) / RATE <= now(); sent += 1) {
        const id = `${prefix}-${sent}`;
        const at = now();
        asked.push(freshRequest(target.port, orderBytes(id)).then((fate) => ({ id, at, fate })));
      }
      if (signalledAt === null && now() - startedAt >= BEFORE_MS) {
        signalledAt = now();
        target.signal();
        void target.line("gate").then(({ at }) => (endsAt = at + AFTER_MS));
      }
      if (now() >= endsAt) {
        clearInterval(timer);
        resolve();
      }
    }, 4);
  });
  const all = await Promise.all(asked);
  await target.gone(5000);
  const exposed = all.filter(({ at }) => at >= signalledAt);
  const fates = exposed.map(({ fate }) => fate);
  return {
    ...joined(all, target.executed()),
    exposed: exposed.length,
    more: {
      served: fates.filter(({ kind }) => kind === "served").length,
      refused: fates.filter(({ kind }) => kind === "refused").length,
      "answered by a reset": whys(fates, "lost").ECONNRESET ?? 0,
    },
  };
}

export const attack = {
  name: "stall-at-gate",
  title: "A 50 ms stall of the event loop at the gate, 500 new connections a second",
  argument:
    "A garbage collection at the worst moment: the loop stands still for 50 ms just as the gate closes. The kernel goes on accepting, 25 clients believe to be connected and have sent their POST, and nobody has read it.",
  promise:
    "A8: who waits in the accept queue at the gate is served or refused. Here nobody has gone elsewhere, so the promise is a tenth at most of what server.close() resets under the same load.",
  clauses: ["A8"],
  remains: "a tenth of the control's is promised",
  found:
    "Node accepts one connection a turn since 20.3, and ten further turns were all that a long queue got: on a machine with ten times its load 604 of 1,460 clients were reset. It is gone through to its end now.",
  rows: [
    { name: "drain delay 0", delay: "0", control: "usual" },
    { name: "drain delay 200 ms", delay: "200ms", control: "by-hand" },
  ].map((row) => ({ ...row, stops: 5, limits: { lost: "a tenth of the control's" }, hurts: { lost: 10 } })),
  async run(row, stop, stand) {
    const stops = [];
    for (let n = 0; n < row.stops; n += 1) stops.push(await oneStop(row, stop, stand, `s${n}`));
    return sumUp(stops);
  },
  says: ({ lastcall, control, row }) =>
    `In ${row.stops} stops ${lastcall.lost} of ${lastcall.exposed} clients were lost, the others served (${lastcall.more.served}) or refused (${lastcall.more.refused}); server.close() lost ${control.lost}.`,
};
