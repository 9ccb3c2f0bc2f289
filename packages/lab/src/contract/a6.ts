/** A6: without a drain delay the gate closes at once, and what is in flight still gets its time. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight, untilRefused } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "longRequest", "settings.drainDelay"];

export const clause: Clause = {
  id: "A6",
  level: "core",
  title: "with a drain delay of 0 the gate closes at the stop signal",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0 } });
      const slow = await putInFlight(court, copy, court.target("slow", { seconds: 1 }));
      copy.signal();
      const refusedAtMs = await untilRefused(copy, 5000);
      const answer = await slow.answer({ timeoutMs: 15_000 });
      court.demandAnswer(answer, [200], "The request in flight", {
        todo: "Answer what was in flight before the process leaves.",
        wire: slow,
      });
      court.demand(
        refusedAtMs !== null && refusedAtMs < answer.endAtMs,
        "New connections were accepted until the request in flight was answered.",
        { todo: "With a drain delay of 0 close the listener in the turn of the signal.", wire: slow },
      );
      court.measure("refusedMs", sinceT0(copy, refusedAtMs));
    }),
};
