/** B5: half a head is somebody who is about to ask; nobody is reset for being slow by a packet. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing } from "./court.ts";
import { putInFlight, roundTrip, untilAfterT0, untilRefused } from "./moves.ts";
import { type Wire, requestBytes } from "./wire.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "settings.drainDelay"];
const LINGER_MS = 300;
const ADVICE =
  "Serve a request whose head began before the gate, or answer it with a whole 503; do not destroy its socket.";

export const clause: Clause = {
  id: "B5",
  level: "core",
  title: "a request whose head was half received is answered: served, or a clean 503",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0, linger: LINGER_MS, gracefulTimeout: 4000 } });
      const halves = async (id: string): Promise<{ readonly wire: Wire; readonly rest: string }> => {
        const bytes = requestBytes(court.target("ordinary", { id }));
        const wire = await copy.open();
        wire.send(bytes.slice(0, 25));
        return { wire, rest: bytes.slice(25) };
      };
      const within = await halves("within");
      const after = await halves("after");
      await putInFlight(court, copy, court.target("slow", { seconds: 1.5 }));
      await roundTrip(court, copy);
      copy.signal();
      await untilRefused(copy, 5000);
      within.wire.send(within.rest);
      const soon = await within.wire.answer();
      court.demandAnswer(soon, [200, 503], "A request whose head was completed just after the gate", {
        todo: ADVICE,
        wire: within.wire,
      });
      court.measure("withinWindow", String(soon.status));
      await untilAfterT0(copy, LINGER_MS + 400);
      if (after.wire.state === "open") {
        after.wire.send(after.rest);
      }
      const late = await after.wire.answer();
      court.demandAnswer(late, [200, 503], "A request whose head was completed after the linger window", {
        todo: ADVICE,
        wire: after.wire,
      });
      court.measure("afterWindow", String(late.status));
    }),
};
