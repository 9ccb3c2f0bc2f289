/** C8: a cut looks like a cut. HTTP/1.0 has nothing but the end of the connection to say so. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing } from "./court.ts";
import { roundTrip } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.stream",
  "settings.drainDelay",
  "settings.gracefulTimeout",
];

export const clause: Clause = {
  id: "C8",
  level: "core",
  title: "a response cut short is recognisable as cut by any client: a reset, never a clean end",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0, gracefulTimeout: 500 } });
      const old = await copy.open();
      old.request(court.target("stream", { seconds: 600 }), { version: "1.0" });
      const half = await copy.open({ allowHalfOpen: true });
      half.request(court.target("stream", { seconds: 600 }), { version: "1.0" });
      const chunked = await copy.open();
      chunked.request(court.target("stream", { seconds: 600 }));
      await Promise.all([old, half, chunked].map((wire) => wire.received(1)));
      await roundTrip(court, copy);
      copy.signal();
      for (const [name, wire] of [
        ["An HTTP/1.0 response", old],
        ["An HTTP/1.0 response to a half-open client", half],
        ["A chunked response", chunked],
      ] as const) {
        const answer = await wire.answer();
        court.demand(
          answer.ended === "reset",
          `${name} that was cut at the deadline ended ${answer.ended === "whole" ? "as if it were whole" : `with ${answer.ended}`}.`,
          { todo: "Cut with a reset (socket.resetAndDestroy()), not with destroy() or end().", wire },
        );
      }
      await court.exit(copy, 3000, "Exit when everything is cut.");
    }),
};
