/** C4: a handler that blocks the event loop blocks everything in its process, except what holds the deadline. */

import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import type { Exit } from "./copy.ts";
import { type Hearing, hearing } from "./court.ts";
import { putInFlight, untilRefused, warm } from "./moves.ts";
import type { Routes } from "./subject.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "routes.spin",
  "settings.drainDelay",
  "settings.gracefulTimeout",
];
const GRACEFUL_TIMEOUT_MS = 1500;
const LIMIT_MS = 500;
/** Longer than the deadline's rest, so that the block is surely on when it comes. */
const BLOCK_SECONDS = 20;
const ADVICE =
  "Hold the deadline from outside the event loop (a worker thread, a supervisor): no timer of a blocked loop ever fires.";

/** In native code nothing can be interrupted: the loop may come back for teardown until its time is over, too. */
const TEARDOWN_TIMEOUT_MS = 500;

/** Blocks the loop after t0, with a request in flight; gives the exit. */
async function stopBlocked(
  court: Hearing,
  route: keyof Routes,
): Promise<{ readonly exit: Exit; readonly blockedIn: string | null }> {
  const copy = await court.start({
    set: {
      drainDelay: 0,
      gracefulTimeout: GRACEFUL_TIMEOUT_MS,
      teardownTimeout: TEARDOWN_TIMEOUT_MS,
      linger: 1200,
    },
  });
  const wire = await warm(court, copy);
  const slow = await putInFlight(court, copy, court.target("slow", { seconds: 600 }));
  copy.signal();
  await untilRefused(copy, 5000);
  court.onTime(copy, GRACEFUL_TIMEOUT_MS - 300);
  wire.request(court.target(route, { seconds: BLOCK_SECONDS }));
  const exit = await court.exit(copy, GRACEFUL_TIMEOUT_MS + 3000, ADVICE);
  const tookMs = exit.atMs - (copy.t0Ms ?? 0);
  court.measure(`exitMs (${route})`, tookMs);
  court.demandInTime(
    tookMs,
    GRACEFUL_TIMEOUT_MS + LIMIT_MS + (route === "native" ? TEARDOWN_TIMEOUT_MS : 0),
    `A handler that blocks the event loop held the process for ${Math.round(tookMs)} ms; its deadline was ${GRACEFUL_TIMEOUT_MS} ms.`,
    { todo: ADVICE, wire: slow },
  );
  return { exit, blockedIn: court.subject.record ? (court.record(copy).blockedIn ?? "") : null };
}

export const clause: Clause = {
  id: "C4",
  level: "core",
  title: "a handler that blocks the event loop cannot hold the process past the deadline by more than 500 ms",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const spun = await stopBlocked(court, "spin");
      court.demand(
        spun.exit.code === subject.exitCodes.incomplete,
        `${exitInWords(spun.exit)} after a handler blocked the loop.`,
        { todo: `Leave with ${subject.exitCodes.incomplete}: work was cut.` },
      );
      if (spun.blockedIn !== null) {
        court.measure("blockedIn", spun.blockedIn);
        court.demand(
          spun.blockedIn !== "",
          "The record does not name the function that blocked the event loop.",
          {
            todo: "Read the blocked thread's stack and name its function in the record.",
          },
        );
      }
      if (subject.routes.native === undefined) {
        return;
      }
      const native = await stopBlocked(court, "native");
      court.demand(
        native.exit.signal === "SIGKILL" || native.exit.code === 137,
        `With the loop stuck in native code the process left with ${String(native.exit.code)} (${String(native.exit.signal)}).`,
        { todo: "Where the thread cannot be interrupted end the process with SIGKILL." },
      );
      if (native.blockedIn !== null) {
        court.demand(
          native.blockedIn === "native",
          `The record says that it was blocked in ${native.blockedIn || "nothing"}.`,
          {
            todo: "Write the record before the kill, with blockedIn native.",
          },
        );
      }
    }),
};
