/** A7: a second signal means "do not wait for the routers"; it never means "drop the work", except SIGINT while draining. */

import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight, untilAfterT0, untilRefused } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "settings.drainDelay"];
const DRAIN_DELAY_MS = 6000;
/** Signals closer together than this are one: see G3. */
const SILENCE_MS = 200;
/** On top of it, so that a busy machine does not deliver two signals as one. */
const APART_MS = 400;

async function judgeSecond(court: Hearing, second: NodeJS.Signals): Promise<void> {
  const copy = await court.start({
    set: { gracePeriod: 12_000, drainDelay: DRAIN_DELAY_MS, gracefulTimeout: 4000, teardownTimeout: 500 },
  });
  const slow = await putInFlight(court, copy, court.target("slow", { seconds: 1.6 }));
  copy.signal();
  // Within the silence: the wrapper's copy of the same signal.
  await untilAfterT0(copy, 60);
  const againMs = sinceT0(copy, copy.signal());
  if (againMs > SILENCE_MS / 2) {
    // That was a silence of our own, and what came after it another signal.
    court.spoilt(againMs);
  }
  await untilAfterT0(copy, 60 + SILENCE_MS + APART_MS);
  const still = await copy.ask(court.target("ordinary", { id: "still-in-the-delay" }));
  court.demandAnswer(still, [200], "A request after the same signal came twice within 60 ms", {
    todo: "Count a signal as a new one only after 200 ms without any.",
    wire: still.wire,
    // A busy machine may deliver the two further apart than they were sent.
    timing: true,
  });
  const secondAtMs = copy.signal(second);
  const refusedAtMs = await untilRefused(copy, 2000);
  const todo = `Let ${second} end the drain delay: somebody waits, and the routers have been given up.`;
  court.demand(refusedAtMs !== null, `A second signal (${second}) did not end the drain delay within 2 s.`, {
    todo,
  });
  court.measure(`gateAfter${second}Ms`, refusedAtMs - secondAtMs);
  court.demandAnswer(await slow.answer(), [200], `The request in flight at the second signal (${second})`, {
    todo: "End only the drain delay: what is in flight keeps its time.",
    wire: slow,
  });
  const exit = await court.exit(copy, 2000, todo);
  court.demand(exit.code === court.subject.exitCodes.clean, `${exitInWords(exit)} after a clean drain.`, {
    todo: "A drain that finished everything is clean, however it was asked for.",
  });
}

async function judgeLater(court: Hearing): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 0, gracefulTimeout: 5000, teardownTimeout: 500 } });
  const slow = await putInFlight(court, copy, court.target("slow", { seconds: 1.4 }));
  const stuck = await putInFlight(court, copy, court.target("slow", { seconds: 600 }));
  copy.signal("SIGTERM");
  await untilAfterT0(copy, SILENCE_MS + APART_MS);
  copy.signal("SIGTERM");
  court.demandAnswer(
    await slow.answer(),
    [200],
    "A request in flight when SIGTERM came again while draining",
    {
      todo: "Ignore a further SIGTERM while draining, and record it.",
      wire: slow,
    },
  );
  const forcedAtMs = copy.signal("SIGINT");
  const exit = await court.exit(copy, 3000, "Let SIGINT while draining force: the deadline is now.", true);
  const tookMs = exit.atMs - forcedAtMs;
  court.measure("exitAfterSigintMs", tookMs);
  court.demandInTime(
    tookMs,
    250 + 500,
    `SIGINT while draining took ${Math.round(tookMs)} ms to end the process.`,
    { todo: "Let SIGINT while draining force: the deadline is now.", wire: stuck },
  );
  court.demand(
    exit.code === court.subject.exitCodes.incomplete,
    `A forced exit had the code ${String(exit.code)}.`,
    {
      todo: "Say with the exit code that work was cut.",
    },
  );
  if (court.subject.record) {
    const { others } = court.record(copy);
    const seen = others.map((other) => `${other.signal} ${other.effect}`).join(", ");
    court.demand(
      seen === "SIGTERM ignored, SIGINT forced",
      `The record says of the further signals: ${seen}.`,
      { timing: true, todo: "Record who else wanted to stop the process, and what came of it." },
    );
    court.measure("totalMs", sinceT0(copy, exit.atMs));
  }
}

export const clause: Clause = {
  id: "A7",
  level: "core",
  title: "a second stop signal ends the drain delay at once, and in-flight work still gets its time",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      await Promise.all([judgeSecond(court, subject.stopSignal), judgeSecond(court, "SIGINT")]);
      await judgeLater(court);
    }),
};
