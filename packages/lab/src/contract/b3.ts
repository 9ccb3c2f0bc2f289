/** B3: a stream that has begun comes to its own end. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { roundTrip } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.stream", "settings.drainDelay"];
const ADVICE = "Count a response as in flight until its last byte is written, not until its head is.";

export const clause: Clause = {
  id: "B3",
  level: "core",
  title: "a response that is already streaming arrives whole, with its terminating chunk",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0 } });
      const wire = await copy.open();
      wire.request(court.target("stream", { seconds: 1 }));
      await wire.received(1);
      await roundTrip(court, copy);
      copy.signal();
      const answer = await wire.answer();
      court.demandAnswer(answer, [200], "A response that was streaming at the gate", { todo: ADVICE, wire });
      court.measure("streamedBytes", answer.body.length);
      court.measure("endedMs", sinceT0(copy, answer.endAtMs));
    }),
};
