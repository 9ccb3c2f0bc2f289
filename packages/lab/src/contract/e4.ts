/** E4: no is a word. A proxy can act on a 503 or on a refused connection; it cannot act on a reset. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing } from "./court.ts";
import { announcesClose, putInFlight, untilAfterT0, untilRefused, warm } from "./moves.ts";
import type { Answer, Wire } from "./wire.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "settings.drainDelay"];

function demandClearNo(court: Hearing, answer: Answer, what: string, wire: Wire | null): void {
  const todo = "Refuse with 503, Connection: close, Retry-After and a body that says draining.";
  court.demandAnswer(answer, [503], what, { todo, wire });
  const { headers, body } = answer;
  court.demand(announcesClose(answer), `${what} got a 503 without Connection: close.`, { todo, wire });
  court.demand(/^\d+$/.test(headers["retry-after"] ?? ""), `${what} got a 503 without Retry-After.`, {
    todo,
    wire,
  });
  court.demand(/draining/i.test(body), `${what} got a 503 that does not say draining: ${body.slice(0, 60)}`, {
    todo,
    wire,
  });
}

async function judgeRespond(court: Hearing): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 0, admission: "respond", gracefulTimeout: 3000 } });
  const kept = await warm(court, copy);
  await putInFlight(court, copy, court.target("slow", { seconds: 0.9 }));
  copy.signal();
  await copy.ask(court.target("ordinary", { id: "edge" }));
  kept.request(court.target("ordinary", { id: "kept" }));
  demandClearNo(court, await kept.answer(), "A request on an old connection", kept);
  for (let n = 0; n < 5; n += 1) {
    const answer = await copy.ask(court.target("ordinary", { id: `new-${n}` }));
    court.onTime(copy, 850);
    demandClearNo(court, answer, "A request on a new connection", answer.wire);
  }
}

async function judgeClose(court: Hearing): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 0, linger: 150, gracefulTimeout: 3000 } });
  // A head half sent keeps this connection open past the window: its request is the one that is refused.
  const half = await copy.open();
  half.send("GET /");
  await putInFlight(court, copy, court.target("slow", { seconds: 1.3 }));
  copy.signal();
  const refused = await untilRefused(copy, 3000);
  const todo = "In close mode close the listener: the kernel refuses for you. Never accept and reset.";
  court.demand(
    refused !== null && copy.running,
    "New connections were never refused while work was in flight.",
    { todo },
  );
  for (const atMs of [300, 500, 700]) {
    await untilAfterT0(copy, atMs);
    const answer = await copy.ask(court.target("ordinary", { id: `late-${atMs}` }));
    court.demand(answer.ended === "refused", `A new connection after the gate ended with ${answer.ended}.`, {
      todo,
      wire: answer.wire,
    });
  }
  if (half.state === "open") {
    half.send(
      `${court.target("ordinary", { id: "half" }).path.slice(1)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
    );
  }
  const answer = await half.answer();
  court.onTime(copy, 1250);
  if (answer.ended === "whole" && answer.status === 200) {
    // Served after all: no refusal, and so no unclear one.
    return;
  }
  demandClearNo(court, answer, "A request that was completed after the linger window", half);
}

export const clause: Clause = {
  id: "E4",
  level: "honest",
  title: "a refusal is a clear no: 503 with Connection: close and Retry-After, or a refused connection",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      await judgeClose(court);
      if (subject.settings.admission !== undefined) {
        await judgeRespond(court);
      }
    }),
};
