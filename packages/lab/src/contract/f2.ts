/** F2: an HTTP/2 session is served as before, told to go with GOAWAY, and closed when its last stream is answered. */

import { setTimeout as pause } from "node:timers/promises";
import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import type { Copy } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import {
  askWithoutPause,
  delayFor,
  DISTANCE_MS,
  http2Ways,
  type Http2Way,
  openSessions,
} from "./http2-moves.ts";
import type { Http2Stream, Http2Wire } from "./http2-wire.ts";
import { untilAfterT0 } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "settings.drainDelay"];
const DRAIN_DELAY_MS = 1000;
const SESSIONS = 4;
/** Between two streams of a session: several are on their way at any time. */
const EVERY_MS = 15;
const GRACEFUL_TIMEOUT_MS = 800;
/** After the last answer: the linger window, a PING to the client and back, and the exit. */
const EXIT_MS = 1000;
const TWO_STEPS =
  "Send GOAWAY with the last stream id 2^31-1, then a PING; when it has come back, GOAWAY with the last stream that came (RFC 9113, section 6.8).";
const ONE_STEP = "Answer every stream up to the last id of the GOAWAY before the session is closed.";

function demandServed(court: Hearing, stream: Http2Stream, what: string, wire: Http2Wire): void {
  const seen = stream.end === "whole" ? String(stream.status) : `no answer (${stream.end}, ${wire.state})`;
  court.demand(stream.end === "whole" && stream.status === 200, `${what} got ${seen} instead of 200.`, {
    todo: "Serve HTTP/2 as before until the gate, and finish what is in flight then.",
    wire,
  });
}

/** In the drain delay: on a new connection, and on an old one that was not told to go. */
async function judgeLameDuck(
  court: Hearing,
  copy: Copy,
  way: Http2Way,
  old: Http2Wire,
  delayMs: number,
): Promise<void> {
  await untilAfterT0(copy, 50);
  const fresh = await copy.openHttp2(way.door);
  const streams = [fresh, ...(old.open ? [old] : [])].map(
    (wire) => [wire, wire.request(court.target("ordinary", { id: "lame-duck" }))] as const,
  );
  for (const [wire, stream] of streams) {
    await wire.ended(stream);
    court.onTime(copy, delayMs, stream.end === "whole" ? stream.endAtMs : stream.sentAtMs);
    demandServed(court, stream, `A stream in the drain delay (${way.door})`, wire);
  }
}

function demandNothingLost(court: Hearing, way: Http2Way, wires: readonly Http2Wire[]): void {
  const sum = { answered: 0, retry: 0, lost: 0 };
  for (const wire of wires) {
    const tally = wire.tally();
    sum.answered += tally.answered;
    sum.retry += tally.retry;
    sum.lost += tally.lost;
    court.demand(wire.goaways.length > 0, `A session ended with ${wire.state} and no GOAWAY (${way.door}).`, {
      todo: "Track the sessions and send each a GOAWAY at the gate (session.close()).",
      wire,
    });
  }
  const all = sum.answered + sum.retry + sum.lost;
  const worst = wires.toSorted(
    (a, b) => b.tally().lost + b.tally().retry - a.tally().lost - a.tally().retry,
  )[0];
  court.measure(`streams (${way.door})`, all);
  court.measure(`retry (${way.door})`, sum.retry);
  court.demand(
    sum.lost === 0,
    `${sum.lost} of ${all} streams at or below the last id got no answer (${way.door}).`,
    {
      todo: ONE_STEP,
      wire: worst,
      timing: true,
    },
  );
  court.demand(
    way.door === "h2" || sum.retry === 0,
    `${sum.retry} of ${all} streams were sent before the client could know, and not answered (${way.door}).`,
    { todo: TWO_STEPS, wire: worst, timing: true },
  );
}

async function judgeRestart(court: Hearing, way: Http2Way): Promise<void> {
  const delayMs = delayFor(court, DRAIN_DELAY_MS);
  const copy = await court.start({ ...way.plan, set: { drainDelay: delayMs, gracefulTimeout: 5000 } });
  const wires = await openSessions(court, copy, way, SESSIONS);
  const quiet = await copy.openHttp2(way.door);
  await quiet.ping();
  const over = new AbortController();
  const load = wires.map((wire) =>
    askWithoutPause(
      wire,
      () => wire.request(court.target("ordinary", { id: "load" })),
      EVERY_MS,
      over.signal,
    ),
  );
  await pause(200);
  const long = wires.map((wire) => wire.request(court.target("slow", { seconds: delayMs / 1000 + 0.6 })));
  await Promise.all(wires.map((wire) => wire.ping()));
  copy.signal();
  if (delayMs > 0) {
    await judgeLameDuck(court, copy, way, quiet, delayMs);
  }
  const exit = await court.exit(
    copy,
    delayMs + 4000,
    "Close each session when its last stream is answered, then exit.",
  );
  over.abort();
  await Promise.all(load);
  await Promise.all(wires.map((wire) => wire.until(() => false, 3000)));
  for (const [n, stream] of long.entries()) {
    const wire = wires[n];
    if (wire !== undefined) {
      demandServed(court, stream, `A stream in flight at the gate (${way.door})`, wire);
    }
  }
  demandNothingLost(court, way, wires);
  const lastMs = Math.max(
    ...wires.flatMap((wire) => [...wire.streams.values()].map(({ endAtMs }) => endAtMs)),
  );
  const tookMs = Math.round(exit.atMs - lastMs);
  court.measure(`exitAfterLastAnswerMs (${way.door})`, tookMs);
  court.demandInTime(
    tookMs,
    EXIT_MS,
    `The process left ${tookMs} ms after the last stream was answered (${way.door}).`,
    { todo: "Do not wait for clients to close their sessions.", wire: quiet },
  );
  court.demand(
    exit.code === court.subject.exitCodes.clean,
    `${exitInWords(exit)} although every stream was answered (${way.door}).`,
    { todo: `Exit with ${court.subject.exitCodes.clean} when nothing was cut.` },
  );
}

/** What does not end is cut so that no client takes it for whole. */
async function judgeDeadline(court: Hearing, way: Http2Way): Promise<void> {
  const delayMs = delayFor(court, 0);
  const copy = await court.start({
    ...way.plan,
    set: { drainDelay: delayMs, gracefulTimeout: GRACEFUL_TIMEOUT_MS },
  });
  const wire = await copy.openHttp2(way.door);
  const silent = wire.request(court.target("slow", { seconds: 600 }));
  const begun =
    court.subject.routes.stream === undefined ? null : wire.request(court.target("stream", { seconds: 600 }));
  await wire.ping();
  await wire.until(() => begun === null || begun.status !== null, 3000);
  copy.signal();
  const deadlineMs = delayMs + GRACEFUL_TIMEOUT_MS;
  const exit = await court.exit(
    copy,
    deadlineMs + 2000,
    "Cut what is left at the graceful timeout and exit.",
    true,
  );
  await wire.until(() => false, 1000);
  court.demand(
    silent.end !== "whole" || silent.status === 503,
    `A stream without an answer at the deadline got ${String(silent.status)} (${way.door}).`,
    { todo: "At the deadline answer 503 where no head was sent, and reset the rest.", wire },
  );
  court.demand(
    begun === null || begun.end !== "whole",
    `A stream that was cut at the deadline ended as if it were whole (${way.door}).`,
    { todo: "Reset it without ending its body first: stream.destroy(error), not stream.close(code).", wire },
  );
  court.measure(`cutAfterMs (${way.door})`, sinceT0(copy, exit.atMs));
  court.demandInTime(
    sinceT0(copy, exit.atMs),
    deadlineMs + 250,
    `The process left ${sinceT0(copy, exit.atMs)} ms after t0; its deadline was ${deadlineMs} ms (${way.door}).`,
    { todo: "Destroy the sessions at the deadline (session.destroy()) and exit.", wire },
  );
}

export const clause: Clause = {
  id: "F2",
  level: "protocol",
  title: "HTTP/2 sessions are told with GOAWAY, no stream is left unanswered, and the sessions close",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const ways = http2Ways(court);
      court.measure("roundTripMs", 2 * DISTANCE_MS);
      for (const way of ways) {
        // One after the other: the second would be load for the first.
        await judgeRestart(court, way);
        if (subject.settings.gracefulTimeout !== undefined) {
          await judgeDeadline(court, way);
        }
      }
    }),
};
