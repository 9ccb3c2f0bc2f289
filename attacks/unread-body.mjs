// A 503 to a body of 8 MB that the service does not want. A socket that is closed with unread bytes resets the answer away.
import { setTimeout as sleep } from "node:timers/promises";
import { joined } from "./apparatus/judge.mjs";
import { rollout } from "./apparatus/rollout.mjs";
import { connect, openPool, whys } from "./apparatus/sockets.mjs";
import { startTarget } from "./apparatus/target.mjs";

const UPLOADS = 20;
const BYTES = 8 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, "x");

/** Sends the head and then the body, a piece each `everyMs`. Most libraries look for an answer when all is sent. */
async function upload(client, id, { everyMs }) {
  const { socket } = client;
  const answered = client.answer(30_000);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.pause();
  socket.write(`POST /upload?id=${id} HTTP/1.1\r\nHost: attack\r\nContent-Length: ${BYTES}\r\n\r\n`);
  for (let sent = 0; sent < BYTES && client.isWaiting; sent += PIECE.length) {
    // The next piece when this one is out: the pace is the client's own.
    await Promise.race([new Promise((resolve) => socket.write(PIECE, resolve)), closed]);
    if (everyMs > 0) await sleep(everyMs);
  }
  socket.resume();
  const fate = await answered;
  client.close();
  return { id, fate };
}

async function direct(row, stop, { folder }) {
  const target = await startTarget(
    stop,
    {
      LASTCALL_ADMISSION: "respond",
      LASTCALL_DRAIN_DELAY: "0",
      LASTCALL_GRACE_PERIOD: "30s",
      HOLD_MS: String(row.holdMs),
    },
    folder,
  );
  const old = await openPool(target.port, UPLOADS / 2);
  target.signal();
  await target.line("gate");
  await sleep(50);
  const fresh = await Promise.all(Array.from({ length: UPLOADS / 2 }, () => connect(target.port)));
  const asked = await Promise.all([...old, ...fresh].map((client, n) => upload(client, `u${n}`, row)));
  await target.gone(30_000);
  const fates = asked.map(({ fate }) => fate);
  return {
    ...joined(asked, target.executed()),
    more: {
      served: fates.filter(({ kind }) => kind === "served").length,
      "503 read whole": fates.filter(({ kind }) => kind === "refused").length,
    },
    notes: whys(fates, "lost"),
  };
}

async function behindRouter({ router }, stop, { folder }) {
  const seen = await rollout(
    {
      stop,
      settings: { LASTCALL_ADMISSION: "respond", HOLD_MS: "2500" },
      args: ["--propagation=1500ms", "--drain-delay=0s", "--rate=6", `--router=${router}`],
      mix: [{ name: "upload", method: "POST", path: "/upload?ms=0&id={id}", upload: { bytes: "8MB" } }],
    },
    folder,
  );
  const whole = seen.answers["503"] ?? 0;
  // A 503 is a clear no here, and what is asked for; anything else that is no success is lost.
  const lost = seen.lost - whole;
  return { ...seen, lost, more: { ...seen.more, "503 read whole": whole } };
}

export const attack = {
  name: "unread-body",
  title: "A 503 to an unread body of 8 MB",
  argument:
    "In `respond` mode a draining service answers 503 before the body has come. If it closes then, the bytes that are still coming reset the connection, and a client that reads when all is sent never sees the 503: it sees ECONNRESET, or its proxy says 502.",
  promise:
    "E4: a refusal is a clear no, a whole 503, never accept-and-reset. What a client goes on sending is read for a while: until it is silent for 0.5 s, and for 3 s at most, since nobody may hold up an exit.",
  clauses: ["E4"],
  remains: "sent for longer than a refused body is read",
  rows: [
    { name: "a client that sends all, then reads", everyMs: 2, holdMs: 3000 },
    {
      name: "the same, its body taking 5 s",
      everyMs: 40,
      holdMs: 7000,
      outside: "longer than the 3 s for which a refused body is read",
    },
    { name: "through nginx", router: "nginx" },
  ].map((row) => ({
    ...row,
    control: "refuses",
    limits: row.outside === undefined ? { lost: 0 } : { served: 0 },
    hurts: { lost: 1 },
  })),
  run: (row, stop, stand) =>
    row.router === undefined ? direct(row, stop, stand) : behindRouter(row, stop, stand),
  says: ({ row, lastcall, control }) =>
    `${lastcall.more["503 read whole"]} whole 503s, ${lastcall.lost} uploads that ended otherwise${row.outside === undefined ? "" : ` (outside the promise: ${row.outside})`}; a 503 and a close, as usual: ${control.lost}.`,
};
