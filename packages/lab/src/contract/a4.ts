/** A4: whoever is answered after t0 is told to come back on another connection, whatever the app says. */

import { judgeSpread } from "./a4-spread.ts";
import type { Clause, Need } from "./clause.ts";
import type { Copy } from "./copy.ts";
import { type Hearing, SLACK_MS, hearing, sinceT0 } from "./court.ts";
import { announcesClose, putInFlight, untilRefused, warm } from "./moves.ts";
import { type Answer, type Wire, requestBytes } from "./wire.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "settings.drainDelay"];
const SHAPES = 8;
const DRAIN_DELAY_MS = 1500;
const ADVICE =
  "From the stop signal on set `Connection: close` where the head is written (writeHead), after everything that the app has set.";

function demandClose(court: Hearing, copy: Copy, answer: Answer, what: string, wire: Wire | null): void {
  court.demandAnswer(answer, [200], what, { todo: ADVICE, wire });
  const said = answer.headers["connection"] ?? "nothing";
  court.demand(announcesClose(answer), `${what} was answered with Connection: ${said} instead of close.`, {
    todo: ADVICE,
    wire,
    // A signal is sent at t0; a busy machine may deliver it to another thread a moment later.
    timing: sinceT0(copy, answer.headAtMs ?? 0) < SLACK_MS,
  });
}

async function judgeAnnounce(court: Hearing): Promise<void> {
  const copy = await court.start({ set: { drainDelay: DRAIN_DELAY_MS, leaveOrder: "announce-first" } });
  const kept = await warm(court, copy);
  const slow = await putInFlight(court, copy, court.target("slow", { seconds: 0.4 }));
  copy.signal();
  // Whoever has one thread and answers this has seen the signal.
  const first = await copy.ask(court.target("ordinary", { id: "first" }));
  const told = async (wire: Wire, what: string): Promise<void> => {
    const answer = await wire.answer();
    court.onTime(copy, DRAIN_DELAY_MS);
    demandClose(court, copy, answer, what, wire);
  };
  court.onTime(copy, DRAIN_DELAY_MS);
  court.demandAnswer(first, [200], "A request in the drain delay", { todo: ADVICE, wire: first.wire });
  kept.request(court.target("ordinary", { id: "kept" }));
  await told(kept, "A request on a connection kept alive");
  const fresh = await copy.open();
  fresh.request(court.target("ordinary", { id: "fresh" }));
  await told(fresh, "A request on a new connection");

  if (court.subject.routes.stubborn !== undefined) {
    for (let shape = 0; shape < SHAPES; shape += 1) {
      const wire = await copy.open();
      wire.request(court.target("stubborn", { shape }));
      await told(wire, `The app's own keep-alive (shape ${shape})`);
    }
    court.measure("shapes", SHAPES);
  }

  const piped = await copy.open();
  piped.send([1, 2, 3].map((n) => requestBytes(court.target("ordinary", { id: `piped-${n}` }))).join(""));
  for (const n of [1, 2, 3]) {
    const answer = await piped.answer();
    court.onTime(copy, DRAIN_DELAY_MS);
    court.demandAnswer(answer, [200], `Pipelined request ${n} of 3`, {
      todo: "Say `Connection: close` only on the answer to the last request received: what follows it is never sent.",
      wire: piped,
    });
    if (n === 3) {
      demandClose(court, copy, answer, "The last of three pipelined requests", piped);
    }
  }
  await told(slow, "A request in flight at t0, its head written later,");
}

/** Nobody was told: silence until the listener has closed, then `close` on what is still open. */
async function judgeWithheld(court: Hearing): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 500, leaveOrder: "listener-first", linger: 1000 } });
  const kept = await warm(court, copy);
  const late = await warm(court, copy);
  const todo = "With the leave order listener-first say nothing before the listener has closed at the gate.";
  copy.signal();
  await copy.ask(court.target("ordinary", { id: "first" }));
  kept.request(court.target("ordinary", { id: "withheld" }));
  const silent = await kept.answer();
  court.onTime(copy, 500);
  court.demandAnswer(silent, [200], "A request in the drain delay", { todo, wire: kept });
  court.demand(!announcesClose(silent), "Connection: close was sent before the listener had closed.", {
    todo,
    wire: kept,
  });
  await untilRefused(copy, 5000);
  late.request(court.target("ordinary", { id: "after-the-gate" }));
  const answer = await late.answer();
  court.onTime(copy, 500 + 1000);
  demandClose(court, copy, answer, "A request after the gate", late);
}

export const clause: Clause = {
  id: "A4",
  level: "core",
  title: "every response whose head is written after t0 carries Connection: close, whatever the app sets",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      await judgeAnnounce(court);
      if (subject.settings.leaveOrder !== undefined) {
        await judgeWithheld(court);
      }
      if (subject.settings.announce !== undefined) {
        await judgeSpread(court);
      }
    }),
};
