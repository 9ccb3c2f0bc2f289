/** B2: the exit follows the last event, not the next tick of a poll. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight, warm } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "settings.drainDelay"];
const LIMIT_MS = 50;
const ADVICE =
  "Wait on the events (response closed, task settled, window over), not on a timer that looks now and then.";

export const clause: Clause = {
  id: "B2",
  level: "core",
  title: "exit follows the last of work, linger window and teardown within 50 ms",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const delays = await Promise.all(
        [0.4, 0.5, 0.6].map(async (seconds) => {
          const copy = await court.start({ set: { drainDelay: 0, linger: 200 } });
          const slow = await putInFlight(court, copy, court.target("slow", { seconds }), {
            headers: { Connection: "close" },
          });
          copy.signal();
          const answer = await slow.answer();
          court.demandAnswer(answer, [200], "The request in flight", { todo: ADVICE, wire: slow });
          const exit = await court.exit(copy, 3000, ADVICE);
          return exit.atMs - answer.endAtMs;
        }),
      );
      // Three different times and the middle one: a poll may be lucky once.
      const middle = delays.toSorted((a, b) => a - b)[1] ?? 0;
      court.measure("exitAfterLastAnswerMs", middle);
      court.demandInTime(
        middle,
        LIMIT_MS,
        `The process left ${Math.round(middle)} ms after its last answer.`,
        { todo: ADVICE },
      );

      const lingerMs = 3000;
      const empty = await court.start({ set: { drainDelay: 0, linger: lingerMs, gracefulTimeout: 4000 } });
      const gone = await warm(court, empty);
      gone.close();
      // The copy has seen the connection's end before it answers the next one.
      const last = await empty.ask(court.target("ordinary", { id: "last" }));
      await last.wire?.ended(1000);
      empty.signal();
      const exit = await court.exit(empty, 5000, ADVICE);
      court.measure("exitWithNothingOpenMs", sinceT0(empty, exit.atMs));
      court.demand(
        exit.atMs - (empty.t0Ms ?? 0) < lingerMs / 2,
        `The process waited ${sinceT0(empty, exit.atMs)} ms for its linger window with no connection open.`,
        { timing: true, todo: "Skip the linger window when no connection is open." },
      );

      const beside = await court.start({ set: { drainDelay: 0, linger: 1500, gracefulTimeout: 4000 } });
      await warm(court, beside);
      const slow = await putInFlight(court, beside, court.target("slow", { seconds: 1.4 }));
      beside.signal();
      await slow.answer();
      const after = await court.exit(beside, 5000, ADVICE);
      court.measure("exitWithWindowBesideWorkMs", sinceT0(beside, after.atMs));
      court.demand(
        sinceT0(beside, after.atMs) < 1500 + 1000,
        `Work of 1.4 s and a window of 1.5 s took ${sinceT0(beside, after.atMs)} ms: one after the other.`,
        { timing: true, todo: "Let the linger window run beside the work in flight." },
      );
    }),
};
