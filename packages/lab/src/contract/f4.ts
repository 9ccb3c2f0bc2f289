/** F4: of a protocol that nobody here knows nothing can be said but when it has to stop. */

import type { Clause, Need } from "./clause.ts";
import type { Copy } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { roundTrip, untilAfterT0 } from "./moves.ts";
import type { Wire } from "./wire.ts";

const NEEDS: readonly Need[] = [
  "routes.tunnel",
  "routes.ordinary",
  "settings.drainDelay",
  "settings.gracefulTimeout",
];
const DRAIN_DELAY_MS = 300;
const GRACEFUL_TIMEOUT_MS = 1500;
const LIMIT_MS = 250;
const ADVICE = "Leave upgraded sockets alone until the deadline, then reset what is left of them.";

/** Sends a word and waits for it to come back. */
async function echoes(wire: Wire, word: string): Promise<boolean> {
  wire.send(word);
  return wire.until((unread) => unread.includes(word), 2000);
}

async function openTunnels(court: Hearing, copy: Copy): Promise<readonly (readonly [string, Wire])[]> {
  const upgraded = await copy.open();
  upgraded.request(court.target("tunnel"), { headers: { Connection: "Upgrade", Upgrade: "lastcall-echo" } });
  const { status } = await upgraded.answer();
  if (status !== 101) {
    court.leave(
      `An upgrade on the tunnel's route was answered with ${String(status)} before the stop signal.`,
    );
  }
  const connected = await copy.open();
  connected.send("CONNECT 127.0.0.1:9 HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n");
  const takes = await connected.until((unread) => unread.includes("\r\n\r\n"), 1000);
  // Not every service takes CONNECT.
  const head = takes && (await connected.until((unread) => unread.includes(" 200 "), 0));
  return head
    ? [
        ["An upgraded connection", upgraded],
        ["A CONNECT connection", connected],
      ]
    : [["An upgraded connection", upgraded]];
}

export const clause: Clause = {
  id: "F4",
  level: "protocol",
  title: "upgraded and CONNECT sockets of unknown protocols are ended at the deadline, not before",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const delayMs =
        subject.settings.drainDelay === undefined ? (subject.fixedDrainDelayMs ?? 0) : DRAIN_DELAY_MS;
      const deadlineMs = delayMs + GRACEFUL_TIMEOUT_MS;
      const copy = await court.start({
        set: { drainDelay: delayMs, gracefulTimeout: GRACEFUL_TIMEOUT_MS, linger: 100 },
      });
      const tunnels = await openTunnels(court, copy);
      await roundTrip(court, copy);
      copy.signal();
      court.measure("tunnels", tunnels.length);
      for (const [when, afterMs] of [
        [delayMs > 0 ? "in the drain delay" : "at the stop signal", delayMs / 3],
        ["after the linger window", delayMs + 700],
      ] as const) {
        await untilAfterT0(copy, afterMs);
        for (const [what, wire] of tunnels) {
          const alive = await echoes(wire, when);
          court.onTime(copy, deadlineMs - 100);
          court.demand(alive, `${what} was ended (${wire.state}) ${when}, before the deadline.`, {
            todo: ADVICE,
            wire,
          });
        }
      }
      const exit = await court.exit(copy, 3000, ADVICE);
      for (const [what, wire] of tunnels) {
        court.demand((await wire.ended(1000)) !== "open", `${what} was left open.`, { todo: ADVICE, wire });
      }
      const tookMs = sinceT0(copy, exit.atMs);
      court.measure("exitMs", tookMs);
      court.demandInTime(
        tookMs,
        deadlineMs + LIMIT_MS,
        `The process left ${tookMs} ms after t0; its deadline was ${deadlineMs} ms.`,
        { todo: ADVICE, wire: tunnels[0]?.[1] },
      );
      court.demand(
        tookMs >= deadlineMs - 50,
        `The process left ${tookMs} ms after t0, before the deadline.`,
        {
          todo: ADVICE,
          wire: tunnels[0]?.[1],
        },
      );
    }),
};
