/** D5: what is opened while everything closes is closed as well. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing } from "./court.ts";
import { roundTrip } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "modes.hookLate", "says.teardown", "settings.drainDelay"];

export const clause: Clause = {
  id: "D5",
  level: "core",
  title: "a resource registered while teardown runs is closed too",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({
        set: { drainDelay: 0 },
        ...(subject.modes.hookLate === undefined ? {} : { mode: subject.modes.hookLate }),
      });
      await roundTrip(court, copy);
      copy.signal();
      await court.exit(copy, 4000, "Exit when teardown is over.");
      const ran = ["third", "second", "late", "first"].filter((name) =>
        copy.lines.some((line) => court.saying("teardown", { name }).test(line.text)),
      );
      court.measure("hooks", ran.join(" "));
      court.demand(
        ran.length === 4,
        `Of the hooks third, second, late and first these ran: ${ran.join(", ")}.`,
        {
          todo: "Run a hook that is registered during teardown at once, or refuse it loudly.",
        },
      );
    }),
};
