/** B1: what is in flight at the gate is answered, and the order is: the listener refuses, the answer goes out, the process leaves. */

import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight, untilRefused } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "longRequest", "settings.drainDelay"];

export const clause: Clause = {
  id: "B1",
  level: "core",
  title: "a request in flight when the gate closes is answered in full, then the process exits",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const drainDelayMs = subject.fixedDrainDelayMs ?? 200;
      const copy = await court.start({ set: { drainDelay: drainDelayMs } });
      // In flight at the gate, however long the service delays it.
      const seconds = drainDelayMs / 1000 + 1;
      const wires = await Promise.all(
        [1, 2, 3].map((id) => putInFlight(court, copy, court.target("slow", { seconds, id }))),
      );
      copy.signal();
      const refusedAtMs = await untilRefused(copy, drainDelayMs + 5000);
      court.demand(refusedAtMs !== null && copy.running, "The process left before it had answered.", {
        todo: "Close the listener, then wait for the answers in flight, then exit.",
        wire: wires[0],
      });
      for (const wire of wires) {
        const answer = await wire.answer({ timeoutMs: drainDelayMs + 15_000 });
        court.demandAnswer(answer, [200], "A request in flight at the gate", {
          todo: "Wait for every response in flight before the process exits.",
          wire,
        });
        court.demand(refusedAtMs < answer.endAtMs, "The listener still accepted when the work was done.", {
          todo: "Close the listener at the gate, before the wait for the work in flight.",
          wire,
        });
        court.measure("answeredMs", sinceT0(copy, answer.endAtMs));
      }
      const exit = await court.exit(
        copy,
        3000,
        "Exit when the last answer is out: end the idle connections yourself.",
      );
      court.measure("exitMs", sinceT0(copy, exit.atMs));
      court.demand(exit.code === subject.exitCodes.clean, `${exitInWords(exit)}.`, {
        todo: `A drain that finished everything exits with ${subject.exitCodes.clean}.`,
      });
    }),
};
