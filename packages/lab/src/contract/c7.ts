/** C7: the wall clock may say what it likes. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, SLACK_MS, hearing, sinceT0 } from "./court.ts";
import { putInFlight } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "modes.clockJumps",
  "settings.drainDelay",
  "settings.gracefulTimeout",
];
const DRAIN_DELAY_MS = 500;
const GRACEFUL_TIMEOUT_MS = 800;
const ADVICE = "Measure every phase on the monotonic clock; wall time is for log lines.";

export const clause: Clause = {
  id: "C7",
  level: "core",
  title: "wall-clock jumps change no phase",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({
        set: { drainDelay: DRAIN_DELAY_MS, gracefulTimeout: GRACEFUL_TIMEOUT_MS },
        ...(subject.modes.clockJumps === undefined ? {} : { mode: subject.modes.clockJumps }),
      });
      const finished = await putInFlight(court, copy, court.target("slow", { seconds: 0.9 }));
      const stuck = await putInFlight(court, copy, court.target("slow", { seconds: 600 }));
      copy.signal();
      court.demandAnswer(await finished.answer(), [200], "A request that ends before the deadline", {
        todo: ADVICE,
        wire: finished,
      });
      const cut = await stuck.answer();
      const cutMs = sinceT0(copy, cut.endAtMs);
      court.measure("cutMs", cutMs);
      await court.exit(copy, 3000, ADVICE);
      const dueMs = DRAIN_DELAY_MS + GRACEFUL_TIMEOUT_MS;
      court.demand(
        cutMs > dueMs - 50 && cutMs < dueMs + SLACK_MS,
        `With the clock set an hour ahead and back the deadline came after ${cutMs} ms instead of ${dueMs} ms.`,
        { timing: true, todo: ADVICE, wire: stuck },
      );
      if (subject.record) {
        const { lameDuckMs, totalMs } = court.record(copy).phases;
        court.demand(
          Math.abs(lameDuckMs - DRAIN_DELAY_MS) < SLACK_MS && totalMs < dueMs + 1000,
          `The record says: lame duck ${lameDuckMs} ms, in all ${totalMs} ms.`,
          { timing: true, todo: ADVICE },
        );
      }
    }),
};
