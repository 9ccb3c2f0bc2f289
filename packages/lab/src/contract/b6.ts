/** B6: what was received in one go is answered in one row. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing } from "./court.ts";
import { requestBytes } from "./wire.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "settings.drainDelay"];
const ADVICE =
  "Answer every pipelined request that has been received; close the connection after the last one.";

export const clause: Clause = {
  id: "B6",
  level: "core",
  title: "pipelined requests already received are all answered, in order",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0 } });
      const wire = await copy.open();
      const ids = ["one", "two", "three", "four"];
      const targets = ids.map((id, n) =>
        n === 1 ? court.target("slow", { seconds: 0.5, id }) : court.target("ordinary", { id }),
      );
      // One write is one segment here: when the first is answered, all have been received.
      wire.send(targets.map((target) => requestBytes(target)).join(""));
      const first = await wire.answer();
      if (first.status !== 200) {
        court.leave(
          `The first pipelined request was answered ${String(first.status)} before the stop signal.`,
        );
      }
      copy.signal();
      for (const [n, id] of ids.entries()) {
        if (n === 0) {
          continue;
        }
        const answer = await wire.answer();
        court.demandAnswer(answer, [200], `Pipelined request ${id} of four`, { todo: ADVICE, wire });
        court.demand(
          answer.body.includes(id) || !court.carries(n === 1 ? "slow" : "ordinary", "id"),
          `Pipelined request ${id} got the answer ${answer.body.slice(0, 60)}.`,
          {
            todo: "Answer pipelined requests in the order in which they came.",
            wire,
          },
        );
      }
      court.measure("answered", ids.length);
    }),
};
