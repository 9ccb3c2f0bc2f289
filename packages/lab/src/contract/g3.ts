/** G3: a process group, a wrapper and a supervisor that all send the signal mean one stop. */

import { setTimeout as pause } from "node:timers/promises";
import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "settings.drainDelay"];
const SIGNALS = 100;
const DRAIN_DELAY_MS = 2500;
const SILENCE_MS = 200;
const ADVICE =
  "Count a signal as a new one only after 200 ms of silence, counted from the last one, not from the first.";

export const clause: Clause = {
  id: "G3",
  level: "process",
  title: "100 signals within a second have the effect of one",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: DRAIN_DELAY_MS } });
      const slow = await putInFlight(court, copy, court.target("slow", { seconds: 1.2 }));
      let sent = 0;
      let lastMs = copy.signal("SIGTERM");
      while (sent < SIGNALS && sinceT0(copy, lastMs) < 1000) {
        await pause(8);
        const atMs = copy.signal("SIGTERM");
        if (atMs - lastMs > SILENCE_MS / 2) {
          // That was a silence of our own, and what came after it another signal.
          court.spoilt(atMs - lastMs);
        }
        lastMs = atMs;
        sent += 1;
      }
      court.measure("signals", sent + 1);
      court.measure("lastSignalMs", sinceT0(copy, lastMs));
      const served = await copy.ask(court.target("ordinary", { id: "still" }));
      court.onTime(copy, DRAIN_DELAY_MS);
      court.demandAnswer(served, [200], `A request in the drain delay, after ${sent} signals,`, {
        todo: ADVICE,
        wire: served.wire,
      });
      court.demandAnswer(await slow.answer(), [200], "The request in flight", { todo: ADVICE, wire: slow });
      const exit = await court.exit(copy, 5000, ADVICE);
      const tookMs = sinceT0(copy, exit.atMs);
      court.measure("exitMs", tookMs);
      court.demand(
        tookMs >= DRAIN_DELAY_MS - 20,
        `${sent} signals ended the drain delay of ${DRAIN_DELAY_MS} ms after ${tookMs} ms.`,
        { todo: ADVICE },
      );
      court.demand(exit.code === subject.exitCodes.clean, `${exitInWords(exit)}.`, { todo: ADVICE });
    }),
};
