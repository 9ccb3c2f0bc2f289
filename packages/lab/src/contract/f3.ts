/** F3: a stream that would never end is ended in order when its route says so, and the client sees that it is whole. */

import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { roundTrip } from "./moves.ts";
import type { Subject } from "./subject.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "settings.drainDelay"];
const ROUTES = ["events", "eventsToGate", "eventsToDeadline"] as const;
const DRAIN_DELAY_MS = 600;
const GRACEFUL_TIMEOUT_MS = 2000;
const ABORT_WINDOW_MS = 250;
/** From the moment that its route names to the end of the stream. */
const LIMIT_MS = 300;
const ADVICE =
  "End each event stream at the moment that its route names (response.end()); the client reconnects by itself.";

/** When each may end, in milliseconds after t0. */
function windows(delayMs: number): Readonly<Record<(typeof ROUTES)[number], readonly [number, number]>> {
  const deadlineMs = delayMs + GRACEFUL_TIMEOUT_MS;
  return {
    events: [0, LIMIT_MS],
    eventsToGate: [delayMs - 50, delayMs + LIMIT_MS],
    eventsToDeadline: [delayMs + GRACEFUL_TIMEOUT_MS / 2, deadlineMs],
  };
}

async function judgeStreams(court: Hearing, subject: Subject): Promise<void> {
  const delayMs =
    subject.settings.drainDelay === undefined ? (subject.fixedDrainDelayMs ?? 0) : DRAIN_DELAY_MS;
  const copy = await court.start({
    set: {
      drainDelay: delayMs,
      gracefulTimeout: GRACEFUL_TIMEOUT_MS,
      abortWindow: ABORT_WINDOW_MS,
      leaveOrder: "announce-first",
    },
  });
  const open = [];
  for (const route of ROUTES.filter((name) => subject.routes[name] !== undefined)) {
    const wire = await copy.open();
    wire.request(court.target(route), { headers: { Accept: "text/event-stream" } });
    await wire.received(1);
    open.push({ route, wire });
  }
  await roundTrip(court, copy);
  copy.signal();
  const answers = await Promise.all(
    open.map(async ({ route, wire }) => ({
      route,
      wire,
      answer: await wire.answer({ timeoutMs: delayMs + GRACEFUL_TIMEOUT_MS + 2000 }),
    })),
  );
  for (const { route, wire, answer } of answers) {
    const [fromMs, untilMs] = windows(delayMs)[route];
    const evidence = { todo: ADVICE, wire };
    court.demandAnswer(answer, [200], `An event stream (routes.${route})`, evidence);
    court.demand(
      answer.headers["transfer-encoding"] === "chunked",
      `The end of an event stream (routes.${route}) cannot be told from a cut: it is not chunked.`,
      { ...evidence, todo: "Send event streams chunked, so that a client can tell their end from a cut." },
    );
    const atMs = sinceT0(copy, answer.endAtMs);
    court.measure(`${route}EndedMs`, atMs);
    court.demand(
      atMs >= fromMs,
      `An event stream (routes.${route}) ended ${atMs} ms after t0, before its time.`,
      evidence,
    );
    court.demandInTime(
      atMs,
      untilMs,
      `An event stream (routes.${route}) ended only ${atMs} ms after t0.`,
      evidence,
    );
  }
  const exit = await court.exit(copy, 5000, "Exit when the streams have ended.");
  court.demand(exit.code === subject.exitCodes.clean, `${exitInWords(exit)}.`, {
    todo: "A stream that was ended in order is finished work.",
  });
}

export const clause: Clause = {
  id: "F3",
  level: "protocol",
  title: "event streams end as their route says, with the terminating chunk",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      if (ROUTES.every((route) => subject.routes[route] === undefined)) {
        court.leave(`the description names no routes.${ROUTES[0]}`);
      }
      await judgeStreams(court, subject);
    }),
};
