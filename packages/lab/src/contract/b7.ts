/** B7: idle clients do not decide when the process may leave. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { exitWithNothingOpen, roundTrip, warmMany } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "settings.drainDelay"];
const LINGER_MS = 250;
const LIMIT_MS = 50;
/** Enough for a cost per connection to show, and below every usual limit of open files. */
const MANY = 150;
/** Ending one costs both sides some cryptography, and the judge shares the machine. */
const MANY_TLS = 60;

export const clause: Clause = {
  id: "B7",
  level: "core",
  title: "idle kept-alive connections delay exit by no more than the linger window",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const todo =
        "End idle connections when the linger window is over: they would hold the process until their keep-alive timeout.";
      const withoutAnyMs = await exitWithNothingOpen(court);
      for (const count of [1, subject.tls ? MANY_TLS : MANY]) {
        const copy = await court.start({ set: { drainDelay: 0, linger: LINGER_MS } });
        const wires = await warmMany(court, copy, count);
        await roundTrip(court, copy);
        copy.signal();
        const exit = await court.exit(copy, 2500, todo);
        const tookMs = sinceT0(copy, exit.atMs);
        court.measure(`exitWith${count}IdleMs`, tookMs);
        court.demandInTime(
          tookMs - withoutAnyMs,
          LINGER_MS + LIMIT_MS,
          `With ${count} idle connections the process left ${tookMs} ms after the gate, with none after ${withoutAnyMs} ms; the linger window is ${LINGER_MS} ms.`,
          { todo, wire: wires[0] },
        );
        await Promise.all(wires.map((wire) => wire.ended(1000)));
        const torn = wires.find((wire) => wire.state === "reset");
        court.demand(torn === undefined, "An idle connection was ended with a reset.", {
          todo: "End idle connections with a FIN.",
          wire: torn,
        });
      }
    }),
};
