// A router that repeats everything, POSTs too: it hides losses, and makes orders out of orders.
import { rollout } from "./apparatus/rollout.mjs";

/** The order is taken at once and acknowledged 150 ms later: whoever cuts in between has taken it. */
const MIX = [
  { name: "order", method: "POST", path: "/orders?first&ms=150&id={id}", weight: 3 },
  { name: "read", path: "/work?ms=50&id={id}" },
];
const RETRIES = ["--retries", "--retry-posts", "--upstream-keepalive", "--witness=import", "--rate=60"];

export const attack = {
  name: "retries",
  title: "Retries on, of POSTs too, duplicates counted",
  argument:
    "A green run behind a router with retries proves little: the router has hidden what was lost, and what was executed before its connection broke is executed again.",
  promise:
    "What was accepted is finished (B1) and nothing is both refused and run (A9): there is nothing that a retry could execute twice. With a delay longer than the lag the router has nothing to repeat at all; without, it repeats what was refused.",
  clauses: ["A9", "B1", "R4"],
  remains: "nothing may be",
  rows: [
    {
      name: "nginx, told in time",
      router: "nginx",
      args: ["--router=nginx", "--propagation=1s", "--drain-delay=1500ms"],
      limits: { lost: 0, "hidden by the router's retry": 0, "acknowledged and not stored": 0 },
    },
    {
      name: "nginx, never told",
      router: "nginx",
      args: ["--router=nginx", "--propagation=3s", "--drain-delay=300ms"],
      limits: { lost: 0, "acknowledged and not stored": 0 },
    },
    {
      name: "embedded, never told",
      router: "embedded",
      args: ["--router=embedded", "--propagation=3s", "--drain-delay=300ms"],
      limits: { lost: 0, "acknowledged and not stored": 0 },
    },
  ].map((row) => ({ ...row, control: "exits", hurts: { executedTwice: 1 } })),
  run: ({ args }, stop, { folder }) => rollout({ stop, args: [...RETRIES, ...args], mix: MIX }, folder),
  says: ({ lastcall, control }) =>
    `${lastcall.lost} lost, ${lastcall.executedTwice} executed twice, ${lastcall.more["hidden by the router's retry"]} repeated after a refusal; a process that exits at the signal lost ${control.lost} and left ${control.executedTwice} orders executed twice, all of them answered well.`,
};
