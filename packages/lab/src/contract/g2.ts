/** G2: a process that is told to stop while it starts does not start. */

import { performance } from "node:perf_hooks";
import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight, untilRefused } from "./moves.ts";

const NEEDS: readonly Need[] = ["modes.slowStart", "settings.drainDelay"];
const LIMIT_MS = 1000;

async function judgeSlowStart(court: Hearing): Promise<void> {
  const { slowStart } = court.subject.modes;
  const copy = await court.start({
    set: { drainDelay: 2000 },
    until: /^starting$/,
    ...(slowStart === undefined ? {} : { mode: slowStart }),
  });
  copy.signal();
  const todo =
    "Install the stop handler first, and let a stop signal during start-up run the teardown so far and exit 0.";
  const exit = await court.exit(copy, 6000, todo);
  const tookMs = sinceT0(copy, exit.atMs);
  court.measure("exitMs", tookMs);
  court.demandInTime(
    tookMs,
    LIMIT_MS,
    `A stop signal during start-up took ${tookMs} ms to end the process.`,
    { todo },
  );
  court.demand(exit.code === 0, `${exitInWords(exit)}.`, { todo });
  court.demand(
    !copy.lines.some((line) => /"listening":true/.test(line.text)),
    "It listened after the stop signal.",
    { todo },
  );
  if (court.subject.says.teardown !== undefined) {
    const closed = copy.lines.some((line) => court.saying("teardown", { name: "first" }).test(line.text));
    court.demand(closed, "What had been opened before the signal was not closed.", { todo });
  }
}

/** It listens and answers and has never said that it is ready: no router to wait for. */
async function judgeNeverReady(court: Hearing): Promise<void> {
  const { neverReady } = court.subject.modes;
  if (neverReady === undefined || court.subject.routes.slow === undefined) {
    return;
  }
  const copy = await court.start({ set: { drainDelay: 4000 }, mode: neverReady });
  const slow = await putInFlight(court, copy, court.target("slow", { seconds: 0.8 }));
  const signalled = copy.signal();
  const refusedAtMs = await untilRefused(copy, 3000);
  const todo = "Before ready() a stop signal drains what is in flight with a drain delay of 0.";
  court.demand(
    refusedAtMs !== null,
    `The gate was open ${Math.round(performance.now() - signalled)} ms after the signal.`,
    { todo },
  );
  court.demandAnswer(await slow.answer(), [200], "A request in flight in a service that was never ready", {
    todo,
    wire: slow,
  });
  const exit = await court.exit(copy, 2000, todo);
  court.demand(exit.code === 0, `${exitInWords(exit)}.`, { todo });
}

export const clause: Clause = {
  id: "G2",
  level: "process",
  title:
    "a stop signal during start-up ends the process within 1 s, exit code 0, and nothing listens afterwards",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      await judgeSlowStart(court);
      await judgeNeverReady(court);
    }),
};
