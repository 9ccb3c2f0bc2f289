// A router that nobody tells: it goes on sending to a leaving copy until it is refused, and then tries the next one.
import { rollout } from "./apparatus/rollout.mjs";

/** It hears of the removal long after the process is gone, and repeats what was never sent: nginx's default rule. */
const NEVER = ["--propagation=3s", "--retries", "--upstream-keepalive", "--rate=100", "--drain-delay=500ms"];
const MIX = [
  { name: "order", method: "POST", path: "/orders?ms=10&id={id}", weight: 4 },
  { name: "read", path: "/work?ms=10&id={id}" },
];

const fits = { lost: 0, "acknowledged and not stored": 0 };

export const attack = {
  name: "never-told",
  title: "A router that is never told, pooled connections, POSTs",
  argument:
    "No controller, no health check: the router learns of the restart by being refused. It repeats what it could not send, and no POST that it did send on a pooled connection. The loop stands still for 40 ms where the listener closes, so that requests wait unread.",
  promise:
    "A5: with the leave order that fits, listener-first, nothing is lost: the listener closes first, and the old connections are served their next request. Announce-first is for routers that are told; with it a loss would have to be one that was not executed. What the router repeats is no loss here, and is counted beside.",
  clauses: ["A5", "A8"],
  rows: ["nginx", "embedded", "haproxy"].flatMap((router) =>
    ["listener-first", "announce-first"].map((order) => ({
      name: `${router}, ${order}`,
      router,
      order,
      control: "usual",
      limits: order === "listener-first" ? fits : { "acknowledged and not stored": 0 },
      hurts: { lost: 1 },
    })),
  ),
  run: ({ router, order }, stop, { folder }) =>
    rollout(
      {
        stop,
        settings: { LASTCALL_LEAVE_ORDER: order, STALL: "gate:40" },
        args: [...NEVER, `--router=${router}`],
        mix: MIX,
      },
      folder,
    ),
  says: ({ lastcall, control }) =>
    `${lastcall.lost} lost, and ${lastcall.more["hidden by the router's retry"]} that were refused and went to the other copy; the usual stop lost ${control.lost}.`,
};
