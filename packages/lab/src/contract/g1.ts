/** G1: PID 1 of a container has no default action for signals, and no parent that sees how it ended. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight } from "./moves.ts";
import { initPrefix } from "./processes.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "settings.drainDelay"];
const GRACEFUL_TIMEOUT_MS = 700;
const LIMIT_MS = 250 + 500;
const DEAF =
  "Install a handler for the stop signal: to PID 1 the kernel delivers no signal that has none, and nothing it raises for itself ends it.";

async function judgeClean(court: Hearing, before: readonly string[]): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 0 }, before });
  const slow = await putInFlight(court, copy, court.target("slow", { seconds: 0.8 }));
  copy.signal();
  court.demandAnswer(await slow.answer(), [200], "A request in flight in PID 1", { todo: DEAF, wire: slow });
  const exit = await court.exit(copy, 3000, DEAF);
  court.measure("exitMs", sinceT0(copy, exit.atMs));
  court.demand(
    exit.code === court.subject.exitCodes.clean,
    `PID 1 left with ${String(exit.code)} (${String(exit.signal)}) after a clean drain.`,
    { todo: `Leave with exit code ${court.subject.exitCodes.clean} by an exit, not by a signal to oneself.` },
  );
}

async function judgeStuck(court: Hearing, before: readonly string[]): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 0, gracefulTimeout: GRACEFUL_TIMEOUT_MS }, before });
  const stuck = await putInFlight(court, copy, court.target("slow", { seconds: 600 }));
  copy.signal();
  const exit = await court.exit(copy, 4000, DEAF);
  const tookMs = sinceT0(copy, exit.atMs);
  court.measure("exitWithStuckWorkMs", tookMs);
  court.demandInTime(
    tookMs,
    GRACEFUL_TIMEOUT_MS + LIMIT_MS,
    `PID 1 left ${tookMs} ms after t0; its deadline was ${GRACEFUL_TIMEOUT_MS} ms.`,
    { todo: DEAF, wire: stuck },
  );
  court.demand(
    exit.code === court.subject.exitCodes.incomplete,
    `PID 1 left with ${String(exit.code)} (${String(exit.signal)}) when work was cut.`,
    { todo: `Leave with exit code ${court.subject.exitCodes.incomplete} by an exit.` },
  );
}

export const clause: Clause = {
  id: "G1",
  level: "process",
  title:
    "it works as PID 1: the stop signal is heard, work in flight is answered, the exit codes are the same",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const before = initPrefix();
      if (before === null) {
        court.leave("nobody may make a process namespace here (unshare --pid), so nothing can be PID 1");
      }
      await judgeClean(court, before);
      if (subject.settings.gracefulTimeout !== undefined) {
        await judgeStuck(court, before);
      }
    }),
};
