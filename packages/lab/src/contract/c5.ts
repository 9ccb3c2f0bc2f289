/** C5: one resource that does not close cannot keep the others from closing. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { roundTrip } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "modes.hookHangs",
  "says.teardown",
  "settings.drainDelay",
  "settings.teardownTimeout",
];
const TEARDOWN_TIMEOUT_MS = 600;
const ADVICE = "Bound each teardown hook by its share of the teardown timeout and go on with the next.";

export const clause: Clause = {
  id: "C5",
  level: "core",
  title: "a teardown hook that never settles is bounded, and the hooks after it still run",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({
        set: { drainDelay: 0, teardownTimeout: TEARDOWN_TIMEOUT_MS },
        ...(subject.modes.hookHangs === undefined ? {} : { mode: subject.modes.hookHangs }),
      });
      await roundTrip(court, copy);
      copy.signal();
      const exit = await court.exit(copy, 2500, ADVICE);
      const tookMs = sinceT0(copy, exit.atMs);
      court.measure("exitMs", tookMs);
      const first = copy.lines.find((line) => court.saying("teardown", { name: "first" }).test(line.text));
      court.demand(first !== undefined, "The hook after the one that hangs never ran.", { todo: ADVICE });
      court.demandInTime(
        tookMs,
        TEARDOWN_TIMEOUT_MS + 100,
        `A hook that hangs held the process for ${tookMs} ms; the teardown timeout was ${TEARDOWN_TIMEOUT_MS} ms.`,
        { todo: ADVICE },
      );
      if (subject.record) {
        const hung = court.record(copy).teardown.find((hook) => hook.name === "second");
        court.demand(
          hung?.outcome === "timed out",
          `The record says of the hook that hangs: ${String(hung?.outcome)}.`,
          {
            todo: "Name the hook that did not settle.",
          },
        );
      }
    }),
};
