/** B4: a body that is still being sent is work accepted. */

import { setTimeout as pause } from "node:timers/promises";
import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing } from "./court.ts";
import { roundTrip, untilRefused } from "./moves.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.upload", "settings.drainDelay"];
const ADVICE = "Keep reading the bodies of the requests in flight after the gate, and answer them.";
const PART = "x".repeat(2000);

export const clause: Clause = {
  id: "B4",
  level: "core",
  title: "a request body still being uploaded is read to its end and answered",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0 } });
      const { method, path } = court.target("upload");
      const sized = await copy.open();
      sized.send(
        `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${PART.length * 3}\r\n\r\n${PART}`,
      );
      const chunked = await copy.open();
      const chunk = `${PART.length.toString(16)}\r\n${PART}\r\n`;
      chunked.send(
        `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
      );
      await roundTrip(court, copy);
      copy.signal();
      await untilRefused(copy, 5000);
      for (const last of [false, true]) {
        // Two more parts, the last one after the linger window.
        await pause(200);
        sized.send(PART);
        chunked.send(last ? `${chunk}0\r\n\r\n` : chunk);
      }
      for (const wire of [sized, chunked]) {
        const answer = await wire.answer();
        court.demandAnswer(answer, [200], "An upload in progress at the gate", { todo: ADVICE, wire });
        court.demand(
          answer.body.includes(String(PART.length * 3)),
          `The upload of ${PART.length * 3} bytes was answered with ${answer.body.slice(0, 80)}.`,
          { todo: ADVICE, wire },
        );
      }
    }),
};
