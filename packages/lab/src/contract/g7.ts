/** G7: a platform signals the process that it started. Its workers have the same work, and no time of their own. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight, untilRefused } from "./moves.ts";
import { runningIn } from "./processes.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "modes.cluster",
  "settings.drainDelay",
  "settings.gracefulTimeout",
];
/** Connections are dealt out in turn, or as the kernel likes: enough that every worker has some. */
const REQUESTS = 8;
const GRACEFUL_TIMEOUT_MS = 800;
const TEARDOWN_TIMEOUT_MS = 500;
const LIMIT_MS = 250;

async function judgeDrain(court: Hearing, whom: "main" | "group"): Promise<void> {
  const mode = court.subject.modes.cluster ?? {};
  const copy = await court.start({ set: { drainDelay: 0, gracefulTimeout: 4000 }, mode });
  const wires = await Promise.all(
    Array.from({ length: REQUESTS }, (_, n) =>
      putInFlight(court, copy, court.target("slow", { seconds: 1, id: `worker-${n}` })),
    ),
  );
  copy.signal(court.subject.stopSignal, whom);
  const signalled = whom === "main" ? "the primary alone" : "the whole process group";
  const refusedAtMs = await untilRefused(copy, 4000);
  for (const wire of wires) {
    court.demandAnswer(
      await wire.answer(),
      [200],
      `A request in flight in a worker, with ${signalled} signalled,`,
      {
        todo: "Pass the stop signal on to every worker, and keep the primary until the last of them has exited.",
        wire,
      },
    );
  }
  court.demand(refusedAtMs !== null, "The listener was still open 4 s after the stop signal.", {
    todo: "Close the listener in every worker, and start no new ones.",
  });
  const exit = await court.exit(copy, 4000, "Exit when the last worker has exited.");
  court.measure(`exitMs (${whom})`, sinceT0(copy, exit.atMs));
  court.demand(
    exit.code === court.subject.exitCodes.clean,
    `The primary left with ${String(exit.code)} (${String(exit.signal)}) after a clean drain.`,
    { todo: `A drain that finished everything exits with ${court.subject.exitCodes.clean}.` },
  );
  const left = runningIn(copy.pid);
  court.demand(left.length === 0, `${left.length} processes of the group outlived the primary.`, {
    todo: "The primary leaves last.",
  });
}

async function judgeBudget(court: Hearing): Promise<void> {
  const mode = court.subject.modes.cluster ?? {};
  const copy = await court.start({
    set: { drainDelay: 0, gracefulTimeout: GRACEFUL_TIMEOUT_MS, teardownTimeout: TEARDOWN_TIMEOUT_MS },
    mode,
  });
  const wires = await Promise.all(
    [1, 2, 3, 4].map((n) => putInFlight(court, copy, court.target("slow", { seconds: 600, id: n }))),
  );
  copy.signal();
  const todo =
    "Bound the workers by the primary's own deadline: their times run beside each other, not after.";
  const exit = await court.exit(copy, 5000, todo);
  const tookMs = sinceT0(copy, exit.atMs);
  court.measure("exitWithStuckWorkMs", tookMs);
  court.demandInTime(
    tookMs,
    GRACEFUL_TIMEOUT_MS + TEARDOWN_TIMEOUT_MS + LIMIT_MS,
    `With work that never ends in its workers the primary left ${tookMs} ms after t0; it had ${GRACEFUL_TIMEOUT_MS} ms and ${TEARDOWN_TIMEOUT_MS} ms for teardown.`,
    { todo, wire: wires[0] },
  );
  court.demand(
    exit.code === court.subject.exitCodes.incomplete,
    `The primary left with ${String(exit.code)} (${String(exit.signal)}) when work in its workers was cut.`,
    { todo: `Leave with ${court.subject.exitCodes.incomplete}: the platform sees the primary's code only.` },
  );
  const left = runningIn(copy.pid);
  court.demand(left.length === 0, `${left.length} processes of the group outlived the primary.`, { todo });
}

export const clause: Clause = {
  id: "G7",
  level: "process",
  title:
    "cluster workers drain within the primary's one budget, whoever is signalled, and the primary leaves last",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      await judgeDrain(court, "main");
      await judgeDrain(court, "group");
      await judgeBudget(court);
    }),
};
