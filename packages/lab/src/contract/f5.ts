/** F5: a client that asks before it sends its body was given a word, or is still waiting for one; both get an answer. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing } from "./court.ts";
import { roundTrip, untilAfterT0, untilRefused } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.upload", "routes.ordinary", "settings.drainDelay"];
const BODY = "expected";
const ADVICE = "Count a request that expects 100-continue from its head on, and answer it like any other.";

export const clause: Clause = {
  id: "F5",
  level: "protocol",
  title: "a request that expects 100-continue and is in flight is answered",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0, gracefulTimeout: 4000, linger: 800 } });
      const head = { Expect: "100-continue", "Content-Length": String(BODY.length) };
      const asked = await copy.open();
      asked.request(court.target("upload"), { headers: head });
      const word = await asked.until((unread) => unread.includes("\r\n\r\n"), 2000);
      if (!word) {
        court.leave(`${subject.name} does not answer Expect: 100-continue before the stop signal.`);
      }
      const late = await copy.open();
      const half = court.target("upload");
      late.send(`${half.method} ${half.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-con`);
      await roundTrip(court, copy);
      copy.signal();
      await untilRefused(copy, 3000);
      await untilAfterT0(copy, 100);
      asked.send(BODY);
      late.send(`tinue\r\nContent-Length: ${BODY.length}\r\n\r\n`);
      const answer = await asked.answer();
      court.demandAnswer(answer, [200], "A request that was told to continue before the stop signal", {
        todo: ADVICE,
        wire: asked,
      });
      // It hears `100 Continue`, or its answer at once.
      await late.until((unread) => unread.includes("\r\n\r\n"), 2000);
      if (late.state === "open") {
        late.send(BODY);
      }
      court.demandAnswer(
        await late.answer(),
        [200, 503],
        "A request that expects 100-continue after the gate",
        {
          todo: ADVICE,
          wire: late,
        },
      );
    }),
};
