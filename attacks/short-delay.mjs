// A drain delay that is shorter than the router's lag: for the difference the router sends to a service that has left.
import { rollout } from "./apparatus/rollout.mjs";

const LAG = ["--propagation=1s", "--rate=60"];
/** 60 a second for 0.2 s, half of them to the copy that leaves, in two restarts; twice that, as a router may be late. */
const MOST_LOST = 24;

export const attack = {
  name: "short-delay",
  title: "A drain delay 0.2 s shorter than the router's lag",
  argument:
    "The drain delay is a guess of how long the router takes to let go. Make the guess wrong by 0.2 s: a lag of 1 s, a delay of 0.8 s.",
  promise:
    "R1 promises nothing here: the delay has to be longer than the lag. What is lost has to be K01, refused connections, which any router may send elsewhere, or on a pooled connection K16, a clear 503: none of it executed, none of it after the removal.",
  clauses: ["R1", "R3"],
  remains: "in the 0.2 s that the delay was short",
  rows: [
    { name: "embedded router", router: "embedded", args: [] },
    { name: "nginx", router: "nginx", args: [] },
    { name: "nginx, pooled upstream", router: "nginx", args: ["--upstream-keepalive"] },
  ].map((row) => ({
    ...row,
    control: "usual",
    limits: {
      "of other kinds than K01 and K16": 0,
      "after the removal": 0,
      "hidden by the router's retry": 0,
      lost: MOST_LOST,
    },
    hurts: { lost: 5 },
  })),
  run: (row, stop, { folder }) =>
    rollout({ stop, args: [...LAG, "--drain-delay=800ms", `--router=${row.router}`, ...row.args] }, folder),
  says: ({ lastcall, control }) =>
    `${lastcall.lost} requests of the missing 0.2 s were lost in two restarts, all of them refused and none executed; without a delay, as usual, ${control.lost} of the whole second.`,
};
