/** G4: an error in the middle of the drain is an error, and no reason to leave the resources open. */

import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing } from "./court.ts";
import { putInFlight } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "routes.crash",
  "says.teardown",
  "settings.drainDelay",
];

export const clause: Clause = {
  id: "G4",
  level: "process",
  title: "an uncaught error while draining still runs teardown and exits non-zero",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0, gracefulTimeout: 4000 } });
      const wire = await copy.open();
      const slow = await putInFlight(court, copy, court.target("slow", { seconds: 600 }));
      copy.signal();
      wire.request(court.target("crash"));
      const exit = await court.exit(
        copy,
        4000,
        "Go straight to teardown on an uncaught error: what is in flight cannot be trusted.",
      );
      court.measure("exitCode", String(exit.code));
      const todo = "Catch the uncaught error while draining, run the teardown, and exit non-zero.";
      const closed = ["third", "second", "first"].filter((name) =>
        copy.lines.some((line) => court.saying("teardown", { name }).test(line.text)),
      );
      court.demand(
        closed.length === 3,
        `After an uncaught error while draining ${closed.length} of 3 hooks ran.`,
        { todo, wire: slow },
      );
      court.demand(exit.code !== 0 && exit.code !== null, `${exitInWords(exit)}.`, { todo });
      if (subject.record) {
        const record = court.record(copy);
        court.demand(
          record.outcome === "failed" && record.exitCode === exit.code,
          `The record says ${record.outcome}, ${record.exitCode}.`,
          { todo },
        );
      }
    }),
};
