/** A9: one boundary for the gate and the count: nothing is refused and run, nothing runs uncounted. */

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Clause, Need } from "./clause.ts";
import type { Copy } from "./copy.ts";
import { type Hearing, hearing } from "./court.ts";
import { putInFlight } from "./moves.ts";
import { Refused } from "./wire.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "says.ran",
  "settings.drainDelay",
  "settings.admission",
  "record",
];
const CLIENTS = 16;
const ADVICE =
  "Decide and count in the same turn: a request that is let through is in the in-flight set before its handler runs.";

interface Seen {
  readonly answered: Set<string>;
  readonly refused: Set<string>;
  sent: number;
}

/** One client through the gate: a connection as long as it lasts, then the next, until it has been refused a few times. */
async function client(court: Hearing, copy: Copy, name: string, seen: Seen): Promise<void> {
  let refusals = 0;
  // A service that keeps busy connections open after its gate would be asked for ever.
  const enough = performance.now() + 3000;
  while (refusals < 5 && performance.now() < enough) {
    try {
      const wire = await copy.open();
      while (performance.now() < enough) {
        seen.sent += 1;
        const id = `${name}-${seen.sent}`;
        wire.request(court.target("ordinary", { id }));
        // One request after the other on this connection.
        const answer = await wire.answer();
        if (answer.status === 503) {
          seen.refused.add(id);
          refusals += 1;
        } else if (answer.status === 200 && answer.ended === "whole") {
          seen.answered.add(id);
        }
        if (answer.status === null || answer.headers["connection"] === "close") {
          break;
        }
      }
      wire.close();
    } catch (error) {
      if (!(error instanceof Refused)) {
        throw error;
      }
      return;
    }
    await pause(1);
  }
}

async function judgeMode(court: Hearing, admission: "close" | "respond"): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 0, admission, gracefulTimeout: 4000 } });
  const seen: Seen = { answered: new Set(), refused: new Set(), sent: 0 };
  const slow = await putInFlight(court, copy, court.target("slow", { seconds: 1.5, id: "held" }));
  const clients = Array.from({ length: CLIENTS }, (_, n) => client(court, copy, `${admission}-${n}`, seen));
  while (seen.answered.size < CLIENTS * 5 && copy.running) {
    // The gate must close in the middle of the load.
    await pause(5);
  }
  copy.signal();
  await Promise.all(clients);
  await slow.answer();
  await court.exit(copy, 4000, "Exit after the last answer.");

  const [before = "", after = ""] = (court.subject.says.ran ?? "").split("{id}");
  const ran = copy.lines
    .filter((line) => court.saying("ran").test(line.text))
    .map((line) => line.text.slice(before.length, line.text.length - after.length));
  const both = ran.filter((id) => seen.refused.has(id));
  const { requests } = court.record(copy);
  court.measure(`ran (${admission})`, ran.length);
  court.measure(`refused (${admission})`, seen.refused.size);
  court.demand(
    both.length === 0,
    `${both.length} requests were answered 503 and run all the same, as ${both[0]}.`,
    {
      todo: ADVICE,
    },
  );
  court.demand(
    requests.accepted === ran.length,
    `${ran.length} requests were run and the record counts ${requests.accepted}.`,
    { todo: ADVICE },
  );
  const unrun = [...seen.answered].filter((id) => !ran.includes(id));
  court.demand(
    unrun.length === 0,
    `${unrun.length} requests were answered 200 and not run, as ${unrun[0]}.`,
    { todo: ADVICE },
  );
}

export const clause: Clause = {
  id: "A9",
  level: "core",
  title: "no request is both refused and run, and none runs uncounted",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      await Promise.all([judgeMode(court, "respond"), judgeMode(court, "close")]);
    }),
};
