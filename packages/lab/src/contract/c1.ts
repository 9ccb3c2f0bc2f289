/** C1: a request that never ends is cut at the deadline, as clearly as can still be done, and the process leaves. */

import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight, roundTrip } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "settings.drainDelay",
  "settings.gracefulTimeout",
];
const GRACEFUL_TIMEOUT_MS = 800;
const LIMIT_MS = 250;

export const clause: Clause = {
  id: "C1",
  level: "core",
  title: "a request that never ends is cut at the deadline, and the process exits within 250 ms",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0, gracefulTimeout: GRACEFUL_TIMEOUT_MS } });
      const headless = await putInFlight(court, copy, court.target("slow", { seconds: 600 }));
      const streaming = subject.routes.stream === undefined ? null : await copy.open();
      if (streaming !== null) {
        streaming.request(court.target("stream", { seconds: 600 }));
        await streaming.received(1);
        await roundTrip(court, copy);
      }
      copy.signal();
      const answer = await headless.answer({ timeoutMs: 3000 });
      const exit = await court.exit(
        copy,
        1000,
        "Bound the drain: at the graceful timeout cut what is left and exit.",
      );
      const tookMs = sinceT0(copy, exit.atMs);
      court.measure("exitMs", tookMs);
      court.demandAnswer(answer, [503], "A request without an answer at the deadline", {
        todo: "At the deadline answer 503 where no head was sent: the client's proxy must not have to guess.",
        wire: headless,
      });
      court.demand(
        sinceT0(copy, answer.endAtMs) >= GRACEFUL_TIMEOUT_MS - 50,
        `The request was cut ${sinceT0(copy, answer.endAtMs)} ms after t0; it had ${GRACEFUL_TIMEOUT_MS} ms.`,
        { todo: "Give what is in flight the whole graceful timeout.", wire: headless },
      );
      if (streaming !== null) {
        const cut = await streaming.answer();
        court.demand(
          cut.ended === "reset",
          `A response under way at the deadline ended with ${cut.ended} instead of a reset.`,
          {
            todo: "Reset what cannot be finished (socket.resetAndDestroy()): a clean end would look complete.",
            wire: streaming,
          },
        );
      }
      court.demandInTime(
        tookMs,
        GRACEFUL_TIMEOUT_MS + LIMIT_MS,
        `The process left ${tookMs} ms after t0; its deadline was ${GRACEFUL_TIMEOUT_MS} ms.`,
        { todo: "Exit at the deadline whatever is still open.", wire: headless },
      );
      court.demand(exit.code === subject.exitCodes.incomplete, `${exitInWords(exit)}.`, {
        todo: `Exit with ${subject.exitCodes.incomplete} when work was cut.`,
      });
    }),
};
