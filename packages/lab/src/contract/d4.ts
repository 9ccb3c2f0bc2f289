/** D4: what was opened last may use what was opened before it; so it closes first. */

import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing } from "./court.ts";
import { putInFlight } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "says.ran",
  "says.teardown",
  "modes.hookFails",
  "settings.drainDelay",
];

export const clause: Clause = {
  id: "D4",
  level: "core",
  title: "teardown runs after the last work, last opened first closed, and a failing hook stops no other",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({
        set: { drainDelay: 0 },
        ...(subject.modes.hookFails === undefined ? {} : { mode: subject.modes.hookFails }),
      });
      const slow = await putInFlight(court, copy, court.target("slow", { seconds: 0.6, id: "last" }));
      if (subject.routes.task !== undefined) {
        await copy.ask(court.target("task", { seconds: 0.8, id: "task" }));
      }
      copy.signal();
      await slow.answer();
      const exit = await court.exit(copy, 4000, "Exit when teardown is over.");
      const at = (pattern: RegExp): number => copy.lines.findIndex((line) => pattern.test(line.text));
      const hooks = ["third", "second", "first"];
      const order = hooks.map((name) => at(court.saying("teardown", { name })));
      court.measure("order", order.join(" "));
      court.demand(!order.includes(-1), `The hook ${hooks[order.indexOf(-1)]} never ran.`, {
        todo: "Go on to the next hook when one fails, and report the failures together at the end.",
      });
      const work = [at(court.saying("ran", { id: "last" }))];
      if (subject.routes.task !== undefined && subject.says.taskDone !== undefined) {
        work.push(at(court.saying("taskDone", { id: "task" })));
      }
      court.demand(
        !work.includes(-1) && Math.max(...work) < Math.min(...order),
        "Teardown began before the last work was done.",
        {
          todo: "Begin teardown when the last request and the last tracked task have settled.",
        },
      );
      court.demand(
        order.every((line, n) => n === 0 || line > (order[n - 1] ?? 0)),
        `The hooks ran in another order than ${hooks.join(", ")}.`,
        { todo: "Run the hooks in the reverse order of their registration, one after the other." },
      );
      if (subject.record) {
        const record = court.record(copy);
        const outcomes = record.teardown.map((hook) => `${hook.name} ${hook.outcome}`).join(", ");
        court.demand(
          outcomes === "third done, second failed, first done",
          `The record says of the hooks: ${outcomes}.`,
          { todo: "Record each hook with its outcome." },
        );
        court.demand(
          exit.code === record.exitCode,
          `${exitInWords(exit)}, the record says ${record.exitCode}.`,
          {
            todo: "Leave with the exit code of the record.",
          },
        );
      }
    }),
};
