/** E2: the counts are those of the clients. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing } from "./court.ts";
import { putInFlight, roundTrip, warm } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "record",
  "settings.drainDelay",
  "settings.gracefulTimeout",
  "settings.admission",
];
const GRACEFUL_TIMEOUT_MS = 1500;
const ADVICE = "Count a request when it is let through, and its end when its response has closed.";

export const clause: Clause = {
  id: "E2",
  level: "honest",
  title: "the counts of the record equal what the clients saw",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({
        set: { drainDelay: 0, admission: "respond", gracefulTimeout: GRACEFUL_TIMEOUT_MS },
      });
      // Ten answered before the signal: two connections of five.
      const keptAlive = await Promise.all([warm(court, copy), warm(court, copy)]);
      for (const wire of keptAlive) {
        for (let n = 0; n < 4; n += 1) {
          wire.request(court.target("ordinary", { id: `kept-${n}` }));
          // One after the other on this connection.
          await wire.answer();
        }
      }
      // Each of these comes with one round trip.
      const finished = await putInFlight(court, copy, court.target("slow", { seconds: 0.7, id: "finished" }));
      const gone = await putInFlight(court, copy, court.target("slow", { seconds: 0.8, id: "gone" }));
      await putInFlight(court, copy, court.target("slow", { seconds: 600, id: "stuck" }));
      gone.reset();
      await roundTrip(court, copy);
      copy.signal();
      // Whatever is answered 200 here was read before the signal.
      const first = await copy.ask(court.target("ordinary", { id: "edge" }));
      let refused = first.status === 503 ? 1 : 0;
      const edge = first.status === 200 ? 1 : 0;
      for (const wire of keptAlive) {
        wire.request(court.target("ordinary", { id: "refused" }));
        refused += (await wire.answer()).status === 503 ? 1 : 0;
      }
      for (let n = 0; n < 3; n += 1) {
        refused += (await copy.ask(court.target("ordinary", { id: "refused" }))).status === 503 ? 1 : 0;
      }
      court.onTime(copy, GRACEFUL_TIMEOUT_MS - 100);
      await finished.answer();
      await court.exit(copy, 4000, ADVICE);
      const { requests } = court.record(copy);
      const seen = { answered: 10 + 4 + 1 + edge, clientGone: 1, unfinished: 1, refused };
      const counted = {
        answered: requests.completed - requests.clientGone,
        clientGone: requests.clientGone,
        unfinished: requests.unfinished,
        refused: requests.refused["503"] ?? 0,
      };
      court.measure("seen", JSON.stringify(seen));
      court.measure("counted", JSON.stringify(counted));
      court.demand(
        JSON.stringify(seen) === JSON.stringify(counted),
        `The clients saw ${JSON.stringify(seen)}, the record counts ${JSON.stringify(counted)}.`,
        { todo: ADVICE },
      );
    }),
};
