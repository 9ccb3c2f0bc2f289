/** G8: a framework or a logger that handles the stop signal itself may leave first; then it is held back, or named. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight, untilAfterT0 } from "./moves.ts";
import type { Mode } from "./subject.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "modes.foreignHandler",
  "settings.drainDelay",
  "record",
];
const DRAIN_DELAY_MS = 900;
const NAME = "Name whoever else handles the stop signal in the record: it may close or exit before the gate.";

function demandNamed(court: Hearing, foreign: readonly string[]): void {
  court.measure("foreign", foreign.join("; "));
  court.demand(
    foreign.some((line) => line.includes(court.subject.stopSignal)),
    `Another handler of ${court.subject.stopSignal} was there, and the record names ${foreign.length === 0 ? "nobody" : foreign.join("; ")}.`,
    { todo: NAME },
  );
}

async function judgeNamed(court: Hearing, mode: Mode): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 0 }, mode });
  await putInFlight(court, copy, court.target("slow", { seconds: 0.3 }));
  copy.signal();
  await court.exit(copy, 4000, NAME);
  demandNamed(court, court.record(copy).foreign ?? []);
}

/** The handler would exit at once. */
async function judgeHeld(court: Hearing, mode: Mode): Promise<void> {
  const todo =
    "Hold the app's own stop handlers until the gate, and an exit that they ask for until teardown.";
  const copy = await court.start({ set: { drainDelay: DRAIN_DELAY_MS }, mode });
  const slow = await putInFlight(court, copy, court.target("slow", { seconds: 1.4 }));
  copy.signal();
  await untilAfterT0(copy, 200);
  const served = await copy.ask(court.target("ordinary", { id: "held" }));
  court.onTime(copy, DRAIN_DELAY_MS);
  court.demandAnswer(served, [200], "A request in the drain delay, beside a handler that would exit,", {
    todo,
    wire: served.wire,
  });
  court.demandAnswer(await slow.answer(), [200], "A request in flight, beside a handler that would exit,", {
    todo,
    wire: slow,
  });
  const exit = await court.exit(copy, 4000, todo);
  court.measure("exitMs", sinceT0(copy, exit.atMs));
  demandNamed(court, court.record(copy).foreign ?? []);
}

export const clause: Clause = {
  id: "G8",
  level: "process",
  title:
    "a foreign stop handler that would exit or close first is deferred to the gate or named, and the record says so",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      await judgeNamed(court, subject.modes.foreignHandler ?? {});
      if (subject.modes.foreignExit === undefined) {
        court.measure("held", "not judged: the description names no modes.foreignExit");
        return;
      }
      await judgeHeld(court, subject.modes.foreignExit);
    }),
};
