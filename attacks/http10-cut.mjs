// An answer without a length over HTTP/1.0, as nginx asks for it: its end is the end of the connection, and so is a cut.
import { setTimeout as sleep } from "node:timers/promises";
import { openWire } from "../packages/lab/dist/src/contract/open-wire.js";
import { rollout } from "./apparatus/rollout.mjs";
import { startTarget } from "./apparatus/target.mjs";

const LONG = 20;
const SHORT = 10;
const LINES = 20;
const DOWNLOAD_MS = 3000;
const LIMIT = { LASTCALL_GRACEFUL_TIMEOUT: "600ms", FORCED_MS: "600" };

async function direct(stop, { folder }) {
  const target = await startTarget(stop, { LASTCALL_DRAIN_DELAY: "0", ...LIMIT }, folder);
  const streams = Array.from({ length: LONG + SHORT }, async (_, n) => {
    const ms = n < LONG ? DOWNLOAD_MS : 400;
    const wire = await openWire({ kind: "tcp", port: target.port, tls: false });
    wire.request({ method: "GET", path: `/stream?ms=${ms}` }, { version: "1.0" });
    const { ended, body } = await wire.answer({ timeoutMs: 10_000 });
    wire.close();
    return { isLong: n < LONG, ended, isWhole: body.trimEnd().endsWith(`line ${LINES} of ${LINES}`) };
  });
  await sleep(150);
  target.signal();
  const all = await Promise.all(streams);
  await target.gone(10_000);
  const cut = all.filter(({ isWhole }) => !isWhole);
  return {
    exposed: all.length,
    lost: cut.length,
    lostExecuted: 0,
    executedTwice: 0,
    // `whole`: the connection ended as it ends behind an answer that is complete.
    truncated: cut.filter(({ ended }) => ended === "whole").length,
    more: { "cut though they would have ended in time": cut.filter(({ isLong }) => !isLong).length },
  };
}

export const attack = {
  name: "http10-cut",
  title: "A cut over HTTP/1.0, where the end of an answer is the end of its connection",
  argument:
    "nginx asks its upstream over HTTP/1.0 unless it is told otherwise. An answer without a length then ends with its connection: when the deadline cuts a download, nginx takes the part for the whole, and the client gets a complete 200 that is none.",
  promise:
    "C8: a response that is cut is recognisable as cut by any client, by a reset. The deadline may cut: here downloads of 3 s against a limit of 0.6 s. What ends within the limit arrives whole (B3).",
  clauses: ["C8", "B3"],
  remains: "cut at the deadline, and seen to be",
  rows: [
    {
      name: "HTTP/1.0 client",
      control: "forced",
      limits: { "cut though they would have ended in time": 0 },
      hurts: { truncated: 1 },
    },
    { name: "nginx, its default", router: "nginx", control: "forced", limits: {}, hurts: { truncated: 1 } },
  ],
  async run({ router }, stop, { folder }) {
    if (router === undefined) return direct(stop, { folder });
    const seen = await rollout(
      {
        stop,
        settings: LIMIT,
        // The router knows before the signal: all that is lost is lost by the cut.
        args: ["--order=remove-first", "--propagation=500ms", "--rate=10", `--router=${router}`],
        mix: [
          { name: "download", path: `/stream?ms=${DOWNLOAD_MS}`, weight: 2 },
          { name: "short", path: "/stream?ms=200" },
        ],
      },
      folder,
    );
    // Downloads of some seconds are slow to the verdict (K25), which is not the question here.
    const { "K07 truncated": cut = 0 } = seen.kinds;
    return { ...seen, more: {}, kinds: { "K07 truncated": cut } };
  },
  says: ({ lastcall, control }) =>
    `${lastcall.lost} downloads were cut at the deadline, ${lastcall.truncated} of them unnoticed; a process that exits at its limit cut ${control.lost}, ${control.truncated} of which looked complete.`,
};
