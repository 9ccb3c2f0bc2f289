/** C2: the handler hears of the end before it comes, and what it throws then is noted and no more. */

import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, SLACK_MS, hearing, sinceT0 } from "./court.ts";
import { putInFlight } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.abortable",
  "says.aborted",
  "settings.drainDelay",
  "settings.gracefulTimeout",
  "settings.abortWindow",
];
const GRACEFUL_TIMEOUT_MS = 1400;
const ABORT_WINDOW_MS = 600;
const ADVICE =
  "Abort the request's signal one abort window before the deadline, so that its handler can still say something.";

export const clause: Clause = {
  id: "C2",
  level: "core",
  title: "before a request is cut its handler is told, and what it throws then changes no exit code",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({
        set: { drainDelay: 0, gracefulTimeout: GRACEFUL_TIMEOUT_MS, abortWindow: ABORT_WINDOW_MS },
      });
      const wire = await putInFlight(court, copy, court.target("abortable", { id: "warned" }));
      copy.signal();
      const told = await copy.line(court.saying("aborted", { id: "warned" }), 4000);
      court.demand(told !== null, "The handler was never told.", { todo: ADVICE, wire });
      const toldMs = sinceT0(copy, told.atMs);
      court.measure("toldMs", toldMs);
      const answer = await wire.answer();
      court.measure("cutMs", sinceT0(copy, answer.endAtMs));
      const exit = await court.exit(copy, 3000, ADVICE);
      const dueMs = GRACEFUL_TIMEOUT_MS - ABORT_WINDOW_MS;
      court.demand(
        toldMs > dueMs - 50 && toldMs < dueMs + SLACK_MS,
        `The handler was told ${toldMs} ms after t0 instead of after ${dueMs} ms.`,
        { timing: true, todo: ADVICE, wire },
      );
      court.demandAnswer(answer, [503], "The request whose handler threw when it was told", {
        todo: "An error thrown while aborting is the handler's own: go on to the cut at the deadline.",
        wire,
      });
      court.demand(
        exit.code === subject.exitCodes.incomplete,
        `${exitInWords(exit)} after a handler threw while it was aborted.`,
        {
          todo: `Record what the handler throws then; the exit code stays ${subject.exitCodes.incomplete}.`,
          wire,
        },
      );
      if (subject.record) {
        const { errors } = court.record(copy);
        court.demand(
          errors.some((error) => error.includes("warned")),
          `The record names ${errors.length} errors, none of them the handler's.`,
          { todo: "Record what the handler throws after it was told." },
        );
      }
    }),
};
