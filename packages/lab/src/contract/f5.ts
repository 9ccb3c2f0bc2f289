/** F5: a client that asks before it sends its body was given a word; it is kept, be the gate closed when the body comes. */

import type { Clause, Need } from "./clause.ts";
import type { Copy } from "./copy.ts";
import { type Hearing, hearing } from "./court.ts";
import { delayFor } from "./http2-moves.ts";
import { roundTrip, untilRefused } from "./moves.ts";
import type { Wire } from "./wire.ts";

const NEEDS: readonly Need[] = ["routes.upload", "routes.ordinary", "settings.drainDelay"];
const DRAIN_DELAY_MS = 500;
const BODY = "expected";
const ADVICE = "Count a request that expects 100-continue from its head on, and answer it like any other.";

/** Sends the head, and waits to be told to continue. */
async function begin(court: Hearing, copy: Copy): Promise<{ readonly wire: Wire; readonly told: boolean }> {
  const wire = await copy.open();
  wire.request(court.target("upload"), {
    headers: { Expect: "100-continue", "Content-Length": String(BODY.length) },
  });
  return { wire, told: await wire.until((unread) => unread.includes("\r\n\r\n"), 2000) };
}

export const clause: Clause = {
  id: "F5",
  level: "protocol",
  title: "a request that expects 100-continue and is in flight is answered",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const delayMs = delayFor(court, DRAIN_DELAY_MS);
      const copy = await court.start({ set: { drainDelay: delayMs, gracefulTimeout: 4000 } });
      const before = await begin(court, copy);
      if (!before.told) {
        court.leave(`${subject.name} does not answer Expect: 100-continue before the stop signal.`);
      }
      await roundTrip(court, copy);
      copy.signal();
      const during = delayMs > 0 ? await begin(court, copy) : null;
      if (during !== null) {
        court.onTime(copy, delayMs);
        court.demand(during.told, "Expect: 100-continue was not answered in the drain delay.", {
          todo: ADVICE,
          wire: during.wire,
        });
      }
      await untilRefused(copy, delayMs + 3000);
      for (const [when, one] of [
        ["before the stop signal", before],
        ["in the drain delay", during],
      ] as const) {
        if (one !== null) {
          one.wire.send(BODY);
          court.demandAnswer(await one.wire.answer(), [200], `A request that was told to continue ${when}`, {
            todo: ADVICE,
            wire: one.wire,
          });
        }
      }
    }),
};
