/** D2: work that does not finish in time has a fate, and the fate has a name. (Durable handoff is D3's.) */

import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { roundTrip } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.abortableTask",
  "routes.abandonedTask",
  "says.taskAborted",
  "settings.drainDelay",
  "settings.gracefulTimeout",
  "record",
];
const ADVICE = "At the deadline give each task its declared fate and name it in the record.";

export const clause: Clause = {
  id: "D2",
  level: "core",
  title: "tracked work that has not finished at the deadline meets its declared fate and is named",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0, gracefulTimeout: 900 } });
      await copy.ask(court.target("abortableTask", { seconds: 600, id: "report" }));
      await copy.ask(court.target("abandonedTask", { seconds: 600, id: "mail" }));
      await roundTrip(court, copy);
      copy.signal();
      const exit = await court.exit(copy, 4000, "Bound tracked work by the deadline.");
      court.measure("exitMs", sinceT0(copy, exit.atMs));
      const told = copy.lines.find((line) => court.saying("taskAborted", { id: "report" }).test(line.text));
      court.demand(told !== undefined, "The task that is to be aborted was never told.", {
        todo: "Abort the task's signal one abort window before the deadline.",
      });
      const record = court.record(copy);
      const fates = record.unfinishedTasks.map((task) => `${task.name} ${task.fate}`).toSorted();
      court.demand(
        record.tasks.aborted === 1 && record.tasks.abandoned === 1,
        `The record counts ${record.tasks.aborted} tasks aborted and ${record.tasks.abandoned} abandoned, of 1 and 1.`,
        { todo: ADVICE },
      );
      court.demand(
        fates.join(", ") === "mail abandoned, report aborted",
        `The record names: ${fates.join(", ") || "nothing"}.`,
        { todo: ADVICE },
      );
      court.demand(exit.code === subject.exitCodes.incomplete, `${exitInWords(exit)}.`, {
        todo: `Exit with ${subject.exitCodes.incomplete} when tracked work was left undone.`,
      });
    }),
};
