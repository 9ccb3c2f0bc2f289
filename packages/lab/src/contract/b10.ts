/** B10: a closed socket is not finished work, where the service says that its handlers count. */

import { performance } from "node:perf_hooks";
import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight, roundTrip } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.outlives",
  "says.handlerDone",
  "settings.drainDelay",
  "settings.boundary",
];
const ADVICE =
  "With the boundary `handler` wait until the handler's promise has settled, not until its socket has closed.";

export const clause: Clause = {
  id: "B10",
  level: "core",
  title: "a handler whose client has gone away counts as in flight until it has settled (boundary handler)",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0, boundary: "handler" } });
      const wire = await putInFlight(court, copy, court.target("outlives", { seconds: 1.2, id: "widow" }));
      wire.reset();
      await roundTrip(court, copy);
      copy.signal();
      const done = await copy.line(court.saying("handlerDone", { id: "widow" }), 4000);
      court.demand(
        done !== null,
        `The process left ${sinceT0(copy, performance.now())} ms after t0 with a handler still at work whose client had gone.`,
        { todo: ADVICE, wire },
      );
      court.measure("handlerDoneMs", sinceT0(copy, done.atMs));
      const exit = await court.exit(copy, 2000, "Exit when the last handler has settled.");
      court.measure("exitMs", sinceT0(copy, exit.atMs));
      if (subject.says.teardown !== undefined) {
        const teardown = copy.lines.findIndex((line) => court.saying("teardown").test(line.text));
        court.demand(
          teardown === -1 || teardown > copy.lines.indexOf(done),
          "Teardown began while a handler was still at work.",
          { todo: ADVICE, wire },
        );
      }
    }),
};
