/** E1: one line for a machine, with everything that happened in it. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, SLACK_MS, hearing, sinceT0 } from "./court.ts";
import { putInFlight, untilAfterT0 } from "./moves.ts";
import { findRecords, lackingFields } from "./record.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "record",
  "settings.drainDelay",
  "settings.gracefulTimeout",
];
const DRAIN_DELAY_MS = 400;
const GRACEFUL_TIMEOUT_MS = 800;
const ADVICE = "Write one line of JSON at the end, with every field of docs/record.md.";

export const clause: Clause = {
  id: "E1",
  level: "honest",
  title: "one machine-readable line is written at the end and says everything that happened",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({
        set: { drainDelay: DRAIN_DELAY_MS, gracefulTimeout: GRACEFUL_TIMEOUT_MS },
      });
      await putInFlight(court, copy, court.target("slow", { seconds: 600 }));
      await putInFlight(court, copy, court.target("slow", { seconds: 0.6 }));
      const t0 = Date.now();
      copy.signal();
      await untilAfterT0(copy, DRAIN_DELAY_MS + 300);
      copy.signal("SIGTERM");
      court.onTime(copy, DRAIN_DELAY_MS + GRACEFUL_TIMEOUT_MS - 100);
      const exit = await court.exit(copy, 4000, ADVICE);
      const texts = copy.lines.filter((line) => line.from === "stderr").map((line) => line.text);
      const records = findRecords(texts);
      court.demand(records.length === 1, `${records.length} records were written to stderr instead of one.`, {
        todo: ADVICE,
      });
      const line = texts.findLast((text) => text.startsWith("{")) ?? "";
      const bytes = Buffer.byteLength(line) + 1;
      court.measure("recordBytes", bytes);
      court.demand(bytes <= 4096, `The record has ${bytes} bytes; a pipe takes 4096 in one piece.`, {
        todo: "Keep the record within 4 KiB: cut lists of names first, counts never.",
      });
      const [record] = records;
      const raw = JSON.parse(line) as Record<string, unknown>;
      const lacking = lackingFields(raw);
      court.demand(record !== undefined && lacking.length === 0, `The record lacks ${lacking.join(", ")}.`, {
        todo: ADVICE,
      });
      const { requests, phases } = record;
      const sum = requests.completed + requests.unfinished;
      court.demand(
        requests.accepted === sum,
        `accepted is ${requests.accepted}, completed + unfinished ${sum}.`,
        {
          todo: "Count so that accepted = completed + unfinished, clientGone being a part of completed.",
        },
      );
      court.demand(
        requests.accepted === 4 && requests.unfinished === 1,
        `The record counts ${requests.accepted} accepted and ${requests.unfinished} unfinished, of 4 and 1.`,
        { todo: ADVICE },
      );
      const [stuck] = record.unfinished;
      const slowPath = court.target("slow").path.split("?")[0] ?? "";
      court.demand(
        stuck?.route.includes(slowPath) === true,
        `The unfinished request is named ${String(stuck?.route)}.`,
        {
          todo: "Name each unfinished request by its route and age.",
        },
      );
      const total = phases.lameDuckMs + phases.drainingMs + phases.teardownMs;
      court.demand(
        Math.abs(phases.lameDuckMs - DRAIN_DELAY_MS) < SLACK_MS &&
          Math.abs(phases.drainingMs - GRACEFUL_TIMEOUT_MS) < SLACK_MS &&
          Math.abs(phases.totalMs - total) < 50 &&
          Math.abs(phases.totalMs - sinceT0(copy, exit.atMs)) < SLACK_MS,
        `The phases are ${JSON.stringify(phases)}; the process left ${sinceT0(copy, exit.atMs)} ms after t0.`,
        { timing: true, todo: "Time each phase on the monotonic clock, from the signal to the exit." },
      );
      const at = Date.parse(String(raw["at"]));
      court.demand(Math.abs(at - t0) < 1000, `The record's time is ${String(raw["at"])}.`, { todo: ADVICE });
      court.demand(
        raw["pid"] === copy.pid,
        `The record names the process ${String(raw["pid"])} instead of ${copy.pid}.`,
        { todo: ADVICE },
      );
      const others = record.others.map((other) => `${other.signal} ${other.effect}`).join(", ");
      court.demand(
        record.signal === subject.stopSignal && others === "SIGTERM ignored",
        `The record says: signal ${String(record.signal)}, others ${others || "none"}.`,
        { todo: "Record the signal and who else wanted to stop the process." },
      );
      court.demand(
        record.outcome === "incomplete" && record.exitCode === exit.code && record.endedBy === "lastcall",
        `The record says ${record.outcome}, ended by ${record.endedBy}, exit code ${record.exitCode}; the process left with ${String(exit.code)}.`,
        { todo: "Decide the outcome once, write it, and leave with its exit code." },
      );
    }),
};
