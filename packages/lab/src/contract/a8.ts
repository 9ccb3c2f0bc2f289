/** A8: who has connected, and waits to be accepted when the gate closes, is not reset. */

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Clause, Need } from "./clause.ts";
import type { Copy } from "./copy.ts";
import { type Hearing, hearing } from "./court.ts";
import type { Subject } from "./subject.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "settings.drainDelay"];
const CLIENTS = 32;
const ROUNDS = 2;
const DRAIN_DELAY_MS = 500;
const ADVICE =
  "Empty the accept queue at the gate (shrink the backlog, let the loop accept what waits) before the listener closes.";

/** What is compared with: plain Node and server.close() under the same load. */
const PLAIN = `
const server = require("node:http").createServer((request, response) => response.end("ok"));
process.on("SIGTERM", () => server.close(() => process.exit(0)));
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ listening: true, port: server.address().port })));
`;

function plain(subject: Subject): Subject {
  return {
    ...subject,
    name: "server.close()",
    command: [process.execPath, "-e", PLAIN],
    announces: true,
    tls: false,
  };
}

interface Load {
  answered: number;
  lost: number;
}

/** Each client opens a connection for each request, until it is refused or `until` is over. */
async function hammer(court: Hearing, copy: Copy, load: Load, untilMs: () => number): Promise<void> {
  while (copy.running && performance.now() < untilMs()) {
    // The next request of a client follows its last one; the others go on meanwhile.
    const answer = await copy.ask(court.target("ordinary", { id: "load" }));
    if (answer.status === 200) {
      load.answered += 1;
      continue;
    }
    if (answer.ended !== "refused" && answer.status === null) {
      load.lost += 1;
    }
    return;
  }
}

/** The load through one stop; clients go elsewhere `lagMs` after t0 (never: Infinity). */
async function through(court: Hearing, copy: Copy, lagMs: number): Promise<Load> {
  const load: Load = { answered: 0, lost: 0 };
  let untilMs = Number.POSITIVE_INFINITY;
  const clients = Array.from({ length: CLIENTS }, () => hammer(court, copy, load, () => untilMs));
  while (load.answered < CLIENTS * 4 && copy.running) {
    // The load is on when every client has been answered a few times.
    await pause(5);
  }
  untilMs = copy.signal() + lagMs;
  await Promise.all(clients);
  await copy.kill();
  return load;
}

export const clause: Clause = {
  id: "A8",
  level: "core",
  title: "connections waiting in the accept queue at the gate are served or refused, not reset",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const told = await court.start({ set: { drainDelay: DRAIN_DELAY_MS } });
      const withDelay = await through(court, told, 150);
      court.measure("lostWithDrainDelay", withDelay.lost);
      court.demand(
        withDelay.lost === 0,
        `${withDelay.lost} of ${withDelay.answered + withDelay.lost} requests were reset although clients went elsewhere 350 ms before the gate.`,
        { todo: ADVICE },
      );

      let lost = 0;
      let lostByPlain = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        // The two take turns, so that a busy moment of the machine meets both.
        lost += (
          await through(court, await court.start({ set: { drainDelay: 0 } }), Number.POSITIVE_INFINITY)
        ).lost;
        const rival = await court.startOther(plain(subject));
        lostByPlain += (await through(court, rival, Number.POSITIVE_INFINITY)).lost;
      }
      court.measure("lostAtTheGate", lost);
      court.measure("lostByServerClose", lostByPlain);
      court.demand(
        lost <= Math.max(2, lostByPlain / 10),
        `${lost} connections were reset at the gate in ${ROUNDS} stops; server.close() resets ${lostByPlain}.`,
        { timing: true, todo: ADVICE },
      );
    }),
};
