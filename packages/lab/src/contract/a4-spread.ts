/** A4 where clients are told one after the other (`announce: "spread"`): the curve over the drain delay, and its end. */

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Copy } from "./copy.ts";
import { type Hearing, sinceT0 } from "./court.ts";
import { announcesClose, warmMany } from "./moves.ts";
import type { Wire } from "./wire.ts";

const CLIENTS = 24;
const DRAIN_DELAY_MS = 1800;
const THIRD_MS = DRAIN_DELAY_MS / 3;
const EVERY_MS = 60;
/** Of the clients, in one third of the delay. */
const MOST_IN_A_THIRD = 0.85;
const ADVICE =
  "Draw a moment in the first two thirds of the drain delay for each connection, and tell it then.";

/** Asks again and again until it is told; returns when that was. */
async function untilTold(court: Hearing, copy: Copy, wire: Wire): Promise<number> {
  for (;;) {
    const askedAtMs = performance.now();
    wire.request(court.target("ordinary", { id: "spread" }));
    const answer = await wire.answer();
    court.onTime(copy, DRAIN_DELAY_MS, answer.endAtMs);
    court.demandAnswer(answer, [200], "A request in the drain delay", { todo: ADVICE, wire });
    if (announcesClose(answer)) {
      return sinceT0(copy, answer.headAtMs ?? answer.endAtMs);
    }
    court.demand(
      sinceT0(copy, askedAtMs) < 2 * THIRD_MS,
      `A request ${sinceT0(copy, askedAtMs)} ms after t0, in the last third of the drain delay, was not told to close.`,
      { todo: ADVICE, wire, timing: true },
    );
    // Every client has its own rhythm.
    await pause(EVERY_MS);
  }
}

export async function judgeSpread(court: Hearing): Promise<void> {
  const copy = await court.start({
    set: { drainDelay: DRAIN_DELAY_MS, leaveOrder: "announce-first", announce: "spread" },
  });
  const wires = await warmMany(court, copy, CLIENTS);
  copy.signal();
  const times = await Promise.all(wires.map((wire) => untilTold(court, copy, wire)));
  const thirds = [0, 0, 0];
  for (const time of times) {
    const third = Math.min(2, Math.floor(time / THIRD_MS));
    thirds[third] = (thirds[third] ?? 0) + 1;
  }
  court.measure("toldPerThird", thirds.join(" "));
  court.demand(
    Math.max(...thirds) <= CLIENTS * MOST_IN_A_THIRD,
    `Of ${CLIENTS} clients that were to be told one after the other ${thirds.join(", ")} were told in each third of the delay.`,
    { todo: ADVICE, wire: wires[0] },
  );
}
