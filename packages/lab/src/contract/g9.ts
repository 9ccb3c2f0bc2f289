/** G9: a dependency that brings its own copy of the library brings no second opinion. */

import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing } from "./court.ts";
import { putInFlight } from "./moves.ts";
import { findRecords } from "./record.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "modes.twoCopies",
  "says.teardown",
  "settings.drainDelay",
  "record",
];

export const clause: Clause = {
  id: "G9",
  level: "process",
  title: "two copies of the library in one process are one lifecycle; two majors are an error with a code",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const { twoCopies, twoMajors } = subject.modes;
      const todo = "Keep the process's lifecycle under a Symbol.for key; a second createLifecycle joins it.";
      const copy = await court.start({
        set: { drainDelay: 0 },
        ...(twoCopies === undefined ? {} : { mode: twoCopies }),
      });
      const slow = await putInFlight(court, copy, court.target("slow", { seconds: 0.5 }));
      copy.signal();
      court.demandAnswer(await slow.answer(), [200], "A request in flight", { todo, wire: slow });
      const exit = await court.exit(copy, 4000, todo);
      const records = findRecords(copy.lines.map((line) => line.text));
      court.demand(records.length === 1, `Two copies wrote ${records.length} records.`, { todo });
      const hooks = ["copy", "third", "second", "first"].filter((name) =>
        copy.lines.some((line) => court.saying("teardown", { name }).test(line.text)),
      );
      court.measure("hooks", hooks.join(" "));
      court.demand(hooks.length === 4, `Of the hooks of both copies these ran: ${hooks.join(", ")}.`, {
        todo,
      });
      court.demand(exit.code === subject.exitCodes.clean, `${exitInWords(exit)}.`, {
        todo,
      });

      if (twoMajors === undefined) {
        court.measure("twoMajors", "not judged");
        return;
      }
      const failed = await court.startToFail({ mode: twoMajors });
      const end = await court.exit(failed, 5000, "Refuse to start with two majors of the library.");
      const said = failed.lines.map((line) => line.text).join("\n");
      court.demand(
        end.code !== 0 && /LASTCALL_[A-Z_]+/.test(said),
        `With two majors it ended with ${String(end.code)}: ${said.slice(-200)}`,
        {
          todo: "Refuse to start with two majors of the library, with an error that has a code.",
        },
      );
    }),
};
