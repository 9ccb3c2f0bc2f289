/** C6: a plan that cannot fit the grace period is refused while somebody looks, not found out by SIGKILL. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "settings.gracePeriod",
  "settings.drainDelay",
  "settings.gracefulTimeout",
  "settings.teardownTimeout",
];
const GRACE_MS = 2000;

export const clause: Clause = {
  id: "C6",
  level: "core",
  title: "all phases together end before the grace period; a budget that cannot fit is refused at start",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const todo =
        "Add up the phases at start; where they exceed the grace period, refuse to start and spell out the sum.";
      const refused = await court.startToFail({
        set: { gracePeriod: 3000, drainDelay: 2000, gracefulTimeout: 2000, teardownTimeout: 1000 },
      });
      court.demand(!refused.running, "It serves with a budget of 5 s in a grace period of 3 s.", { todo });
      const exit = await refused.exited;
      court.demand(
        exit.code !== 0 && exit.code !== null,
        `It was asked for 5 s in a grace period of 3 s and ended with ${String(exit.code)}.`,
        { todo },
      );
      const said = refused.lines.map((line) => line.text).join("\n");
      const parts = [
        /\b2 ?s\b|\b2000\b/,
        /\b1 ?s\b|\b1000\b/,
        /\b3 ?s\b|\b3000\b/,
        /\b5(\.\d+)? ?s\b|\b5\d\d\d\b/,
      ];
      court.demand(
        parts.every((part) => part.test(said)),
        `The refusal does not spell out the sum of 2 s, 2 s and 1 s against 3 s: ${said.slice(0, 200)}`,
        { todo },
      );

      const mode = subject.modes.hookHangs;
      const copy = await court.start({
        set: { gracePeriod: GRACE_MS },
        ...(mode === undefined ? {} : { mode }),
      });
      await putInFlight(court, copy, court.target("slow", { seconds: 600 }));
      copy.signal();
      const end = await court.exit(
        copy,
        5000,
        "Let the derived phases shrink until they fit the grace period.",
      );
      const tookMs = sinceT0(copy, end.atMs);
      court.measure("exitMs", tookMs);
      court.measure("gracePeriodMs", GRACE_MS);
      court.demandInTime(
        tookMs,
        GRACE_MS,
        `With work and a hook that never end the process took ${tookMs} ms of a grace period of ${GRACE_MS} ms.`,
        {
          todo: "Let the derived phases shrink until they fit the grace period, with a reserve.",
        },
      );
    }),
};
