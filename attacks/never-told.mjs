// A router that nobody tells: it goes on sending to a leaving copy until it is refused, and then tries the next one.
import { rollout } from "./apparatus/rollout.mjs";

/** It hears of the removal long after the process is gone, and repeats what was never sent: nginx's default rule. */
const NEVER = ["--propagation=3s", "--retries", "--upstream-keepalive", "--rate=100", "--drain-delay=500ms"];
const MIX = [
  { name: "order", method: "POST", path: "/orders?ms=10&id={id}", weight: 4 },
  { name: "read", path: "/work?ms=10&id={id}" },
];

const fits = { "lost, and no closing race (K03)": 0, "acknowledged and not stored": 0 };

export const attack = {
  name: "never-told",
  title: "A router that is never told, pooled connections, POSTs",
  argument:
    "No controller, no health check: the router learns of the restart by being refused. It repeats what it could not send, and no POST that it did send on a pooled connection. The loop stands still for 40 ms where the listener closes, so that requests wait unread.",
  promise:
    "A5: with the leave order that fits, listener-first, nothing is lost: the listener closes first, and the old connections are served their next request. Announce-first is for routers that are told; with it a loss would have to be one that was not executed. What remains, and is stated there, is K03: a POST on a pooled connection that has been idle for the whole window, in the very moment of its closing. What the router repeats is no loss here, and is counted beside.",
  clauses: ["A5", "A8"],
  remains: "in the moment in which an idle connection was closed",
  found:
    "A listener that took longer to close than the linger window is long went on accepting, and answered 503, which no router repeats for a POST. The window waits for the listener now.",
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
    `${lastcall.lost} lost${lastcall.kinds["K03 keep-alive-race"] > 0 ? ` (${lastcall.kinds["K03 keep-alive-race"]} in the moment of a closing, not executed)` : ""}, and ${lastcall.more["hidden by the router's retry"]} that were refused and went to the other copy; the usual stop lost ${control.lost}.`,
};
