/** A2: a draining service is alive, and says so to whoever would restart it. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight } from "./moves.ts";
import { setTimeout as pause } from "node:timers/promises";

const NEEDS: readonly Need[] = ["routes.live", "routes.slow", "settings.drainDelay"];
const DRAIN_DELAY_MS = 500;
const ADVICE =
  "Answer liveness 200 for as long as the port is open: an orchestrator restarts what is not alive.";

export const clause: Clause = {
  id: "A2",
  level: "core",
  title: "liveness answers 200 to the gate on the public port, and to the end of teardown on the admin port",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const admin = subject.adminPort !== undefined;
      const mode = subject.modes.hookSlow;
      const copy = await court.start({
        set: { drainDelay: DRAIN_DELAY_MS },
        admin,
        ...(mode === undefined ? {} : { mode }),
      });
      await putInFlight(court, copy, court.target("slow", { seconds: 1 }));
      copy.signal();
      let asked = 0;
      for (;;) {
        const answer = await copy.ask(court.target("live"));
        // What comes back at the gate itself is A8's matter.
        if (sinceT0(copy, answer.endAtMs) > DRAIN_DELAY_MS) {
          break;
        }
        court.demandAnswer(answer, [200], `Liveness ${sinceT0(copy, answer.endAtMs)} ms after t0`, {
          todo: ADVICE,
          wire: answer.wire,
        });
        asked += 1;
        await pause(40);
      }
      court.measure("probesInDrainDelay", asked);
      if (!admin) {
        return;
      }
      const draining = await copy.ask(court.target("live"), "admin");
      court.onTime(copy, 900);
      court.demandAnswer(draining, [200], "Liveness on the admin port while draining", {
        todo: ADVICE,
        wire: draining.wire,
      });
      if (mode === undefined) {
        return;
      }
      const begun = await copy.line(court.saying("teardown", { name: "second" }));
      court.demand(begun !== null, "Teardown never began.", {
        todo: "Run the teardown hooks after the drain.",
      });
      const teardown = await copy.ask(court.target("live"), "admin");
      court.onTime(copy, sinceT0(copy, begun.atMs) + 350);
      court.demandAnswer(teardown, [200], "Liveness on the admin port in teardown", {
        todo: ADVICE,
        wire: teardown.wire,
      });
    }),
};
