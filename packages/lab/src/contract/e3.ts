/** E3: a supervisor reads one number. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing } from "./court.ts";
import { putInFlight, roundTrip } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "settings.drainDelay",
  "settings.gracefulTimeout",
];
const SIGTERM_NUMBER = 15;

async function exitCode(court: Hearing, stuck: boolean, policy: "code" | "signal"): Promise<number | null> {
  const copy = await court.start({ set: { drainDelay: 0, gracefulTimeout: 500, exitPolicy: policy } });
  await (stuck ? putInFlight(court, copy, court.target("slow", { seconds: 600 })) : roundTrip(court, copy));
  copy.signal("SIGTERM");
  const exit = await court.exit(copy, 4000, "Exit at the deadline at the latest.");
  return exit.code;
}

/** A process that its signal has ended has no exit code. */
function tell(code: number | null): string {
  return code === null ? "none" : String(code);
}

export const clause: Clause = {
  id: "E3",
  level: "honest",
  title: "clean and incomplete shutdowns have different exit codes",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const [clean, incomplete] = await Promise.all([
        exitCode(court, false, "code"),
        exitCode(court, true, "code"),
      ]);
      court.measure("clean", String(clean));
      court.measure("incomplete", String(incomplete));
      const { exitCodes } = subject;
      court.demand(
        clean === exitCodes.clean && incomplete === exitCodes.incomplete,
        `The exit codes were ${tell(clean)} (clean) and ${tell(incomplete)} (work was cut) instead of ${exitCodes.clean} and ${exitCodes.incomplete}.`,
        { todo: "Leave with a code of its own when work was cut, so that a supervisor can tell." },
      );
      court.demand(
        clean !== incomplete,
        `The exit code is documented as ${String(clean)} whether work was cut or not.`,
        {
          todo: "Leave with a code of its own when work was cut, so that a supervisor can tell.",
        },
      );
      if (subject.settings.exitPolicy !== undefined) {
        const bySignal = await exitCode(court, false, "signal");
        court.measure("cleanBySignal", String(bySignal));
        court.demand(
          bySignal === 128 + SIGTERM_NUMBER,
          `With the policy signal the exit code was ${String(bySignal)} instead of 143.`,
          {
            todo: "With the policy signal exit with 128 + the signal's number; do not re-raise it (void as PID 1).",
          },
        );
      }
    }),
};
