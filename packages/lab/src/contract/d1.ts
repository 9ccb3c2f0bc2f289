/** D1: tracked work is work, although its response is long gone. */

import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { roundTrip } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.task", "says.taskDone", "settings.drainDelay"];
const ADVICE = "Count tracked work as in flight, and begin teardown when the last of it has settled.";

export const clause: Clause = {
  id: "D1",
  level: "core",
  title: "tracked work is finished before teardown begins, within the deadline",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0 } });
      const accepted = await copy.ask(court.target("task", { seconds: 0.9, id: "receipt" }));
      if (accepted.status === null || accepted.status >= 300) {
        court.leave(`The route for tracked work answered ${String(accepted.status)}.`);
      }
      await roundTrip(court, copy);
      copy.signal();
      const exit = await court.exit(copy, 5000, "Exit when the tracked work is done.");
      const done = copy.lines.findIndex((line) =>
        court.saying("taskDone", { id: "receipt" }).test(line.text),
      );
      court.demand(
        done !== -1,
        `The process left ${sinceT0(copy, exit.atMs)} ms after t0 without finishing tracked work.`,
        {
          todo: ADVICE,
          wire: accepted.wire,
        },
      );
      court.measure("taskDoneMs", sinceT0(copy, copy.lines[done]?.atMs ?? 0));
      court.measure("exitMs", sinceT0(copy, exit.atMs));
      if (subject.says.teardown !== undefined) {
        const teardown = copy.lines.findIndex((line) => court.saying("teardown").test(line.text));
        court.demand(teardown > done, "Teardown began before the tracked work was done.", { todo: ADVICE });
      }
      court.demand(exit.code === subject.exitCodes.clean, `${exitInWords(exit)}.`, {
        todo: ADVICE,
      });
      if (subject.record) {
        const { completed } = court.record(copy).tasks;
        court.demand(completed === 1, `The record counts ${completed} tasks completed of 1.`, {
          todo: "Count tracked work by its fate.",
        });
      }
    }),
};
