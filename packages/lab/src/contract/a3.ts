/** A3: through the drain delay everything is served as before: somebody still sends. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { untilAfterT0, warm } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "settings.drainDelay"];
const DRAIN_DELAY_MS = 900;

export const clause: Clause = {
  id: "A3",
  level: "core",
  title: "during the drain delay new connections are accepted and requests are answered as before",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: DRAIN_DELAY_MS } });
      const kept = await warm(court, copy);
      copy.signal();
      const evidence = {
        todo: "Keep the listener open through the drain delay: routers go on sending until they have noticed.",
      };
      for (const atMs of [0, 150, 300, 500]) {
        await untilAfterT0(copy, atMs);
        const answer = await copy.ask(court.target("ordinary", { id: `delay-${atMs}` }));
        court.onTime(copy, DRAIN_DELAY_MS);
        const when = `A request on a new connection ${sinceT0(copy, answer.endAtMs)} ms after t0`;
        court.demandAnswer(answer, [200], when, { ...evidence, wire: answer.wire });
      }
      kept.request(court.target("ordinary", { id: "kept" }));
      const answer = await kept.answer();
      court.onTime(copy, DRAIN_DELAY_MS);
      court.demandAnswer(answer, [200], "A request on a connection kept alive", { ...evidence, wire: kept });
      court.measure("lastServedMs", sinceT0(copy, answer.endAtMs));
      const exit = await court.exit(copy, 5000, "Nothing was in flight: exit when the drain delay is over.");
      court.measure("exitMs", sinceT0(copy, exit.atMs));
      court.demand(
        sinceT0(copy, exit.atMs) >= DRAIN_DELAY_MS - 20,
        `The process left ${sinceT0(copy, exit.atMs)} ms after t0, before its drain delay of ${DRAIN_DELAY_MS} ms was over.`,
        { todo: "Serve for the whole drain delay." },
      );
    }),
};
