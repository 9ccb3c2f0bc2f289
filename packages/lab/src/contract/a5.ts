/** A5: a request that comes on an old connection just after the gate is served, not lost. */

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import {
  announcesClose,
  lingerWindowMs,
  putInFlight,
  untilAfterT0,
  untilRefused,
  warmMany,
} from "./moves.ts";
import type { Wire } from "./wire.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "settings.drainDelay"];
const LINGER_MS = 1200;
const ADVICE =
  "Close only the listener at the gate (in Node net.Server.prototype.close.call(server)) and serve the old connections for a linger window.";

async function judgeLinger(court: Hearing): Promise<void> {
  const windowMs = lingerWindowMs(court.subject, LINGER_MS);
  const copy = await court.start({ set: { drainDelay: 0, linger: LINGER_MS, gracefulTimeout: 4000 } });
  const wires = await warmMany(court, copy, 16);
  const idle = await warmMany(court, copy, 4);
  await putInFlight(court, copy, court.target("slow", { seconds: 2.2 }));
  copy.signal();
  const refused = await untilRefused(copy, 2000);
  court.demand(
    refused !== null,
    "The listener was still open 2 s after the stop signal with a drain delay of 0.",
    {
      todo: "Close the listener at the gate.",
    },
  );
  const upload = court.subject.routes.upload;
  const serve = async (wire: Wire, n: number): Promise<void> => {
    await pause((n * windowMs) / 60);
    const sentAtMs = sinceT0(copy, performance.now());
    // What no client repeats by itself, where there is a route for it.
    wire.request(
      upload === undefined ? court.target("ordinary", { id: `linger-${n}` }) : court.target("upload"),
      upload === undefined ? {} : { body: "order" },
    );
    const answer = await wire.answer();
    court.demandAnswer(answer, [200], "A request on a connection kept alive, just after the gate,", {
      todo: ADVICE,
      wire,
      // Sent so late that the window may have been over: the judge's own delay.
      timing: sentAtMs > windowMs - 150,
    });
    court.demand(announcesClose(answer), "A request after the gate was answered without Connection: close.", {
      todo: ADVICE,
      wire,
    });
  };
  await Promise.all(wires.map(serve));
  court.measure("servedAfterTheGate", wires.length);

  await untilAfterT0(copy, LINGER_MS + 500);
  let closed = 0;
  for (const wire of idle) {
    if (wire.state === "fin") {
      closed += 1;
      continue;
    }
    wire.request(court.target("ordinary", { id: "too-late" }));
    court.demandAnswer(await wire.answer(), [503], "A request after the linger window", {
      todo: "After the window answer 503 with Connection: close, or end the idle connection with a FIN; never with a reset.",
      wire,
    });
  }
  court.measure("idleEndedByFin", closed);
}

async function judgeRespond(court: Hearing): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 0, admission: "respond", gracefulTimeout: 4000 } });
  const wires = await warmMany(court, copy, 4);
  await putInFlight(court, copy, court.target("slow", { seconds: 1 }));
  copy.signal();
  const evidence = { todo: "In respond mode answer every new request from the gate on with a whole 503." };
  // The first one may have been read before the signal.
  await copy.ask(court.target("ordinary", { id: "first" }));
  const fresh = await copy.ask(court.target("ordinary", { id: "fresh" }));
  court.demandAnswer(fresh, [503], "A request on a new connection in respond mode", {
    ...evidence,
    wire: fresh.wire,
  });
  for (const wire of wires) {
    wire.request(court.target("ordinary", { id: "kept" }));
    court.demandAnswer(await wire.answer(), [503], "A request on an old connection in respond mode", {
      ...evidence,
      wire,
    });
  }
}

export const clause: Clause = {
  id: "A5",
  level: "core",
  title: "no request is lost on a kept-alive connection whose next request comes within the linger window",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      await judgeLinger(court);
      if (subject.settings.admission !== undefined) {
        await judgeRespond(court);
      }
    }),
};
