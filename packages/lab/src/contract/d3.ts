/** D3: work handed to the next process is run there as often as its key allows: once, also when the handoff was cut off. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Clause, Need } from "./clause.ts";
import type { Copy } from "./copy.ts";
import { type Hearing, hearing } from "./court.ts";
import { roundTrip, untilAfterT0 } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.handoffTask",
  "says.taskDone",
  "handoffStore",
  "settings.drainDelay",
  "settings.gracefulTimeout",
];
const GRACEFUL_TIMEOUT_MS = 500;
/** Longer than the first process has, short enough to be awaited in the next. */
const TASK_SECONDS = 1.5;
/** When the process is killed, from the deadline on. */
const KILLS_MS: readonly number[] = [5, 15, 30, 60];
const ADVICE =
  "Store the work under its idempotency key before it is acknowledged, take it out when it is done, and let the next process run what is left once.";

function start(court: Hearing, store: string): Promise<Copy> {
  const door = court.subject.handoffStore;
  return court.start({
    set: { drainDelay: 0, gracefulTimeout: GRACEFUL_TIMEOUT_MS },
    env: door === undefined ? {} : { [door.env]: store },
  });
}

function runs(court: Hearing, copy: Copy, id: string): number {
  const done = court.saying("taskDone", { id });
  return copy.lines.filter((line) => done.test(line.text)).length;
}

/** Until the work is done that was begun when the copy started; not at all when it is not begun. */
async function awaited(court: Hearing, copy: Copy, id: string): Promise<void> {
  await copy.line(court.saying("taskDone", { id }), TASK_SECONDS * 1000 + 2000);
}

async function hand(court: Hearing, copy: Copy, id: string): Promise<void> {
  const target = court.target("handoffTask", { seconds: TASK_SECONDS, id });
  const answer = await copy.ask(target);
  court.demandAnswer(answer, [202], "Work that is to be handed off", { todo: ADVICE, wire: answer.wire });
}

/** Stops a copy and gives it the time to leave by itself. */
async function stop(court: Hearing, copy: Copy): Promise<void> {
  await roundTrip(court, copy);
  copy.signal();
  await court.exit(
    copy,
    GRACEFUL_TIMEOUT_MS + 3000,
    "Bound the stop by the deadline: the rest is handed off.",
  );
}

async function judgeClean(court: Hearing, store: string): Promise<void> {
  const first = await start(court, store);
  for (const id of ["receipt", "receipt", "invoice"]) {
    // The same key twice is the same work.
    await hand(court, first, id);
  }
  await stop(court, first);
  const next = await start(court, store);
  await Promise.all(["receipt", "invoice"].map((id) => awaited(court, next, id)));
  await stop(court, next);
  const later = await start(court, store);
  await stop(court, later);
  for (const id of ["receipt", "invoice"]) {
    const times = [first, next, later].reduce((sum, copy) => sum + runs(court, copy, id), 0);
    court.demand(
      times === 1,
      `Work with the key ${id} that was handed off was run ${times} times by this process and the two after it.`,
      { todo: ADVICE },
    );
  }
  court.measure("handedOff", runs(court, next, "receipt") + runs(court, next, "invoice"));
}

async function judgeKilled(court: Hearing, store: string, afterDeadlineMs: number): Promise<void> {
  const first = await start(court, store);
  await hand(court, first, "receipt");
  await roundTrip(court, first);
  first.signal();
  await untilAfterT0(first, GRACEFUL_TIMEOUT_MS + afterDeadlineMs);
  await first.kill();
  const next = await start(court, store);
  await awaited(court, next, "receipt");
  await stop(court, next);
  const times = runs(court, first, "receipt") + runs(court, next, "receipt");
  court.demand(
    times === 1,
    `Work was acknowledged, its process killed ${afterDeadlineMs} ms after the deadline, and the work run ${times} times.`,
    { todo: ADVICE },
  );
}

export const clause: Clause = {
  id: "D3",
  level: "core",
  title:
    "what was handed off is run by the next process as often as its idempotency key allows, also after SIGKILL",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const folder = await mkdtemp(path.join(tmpdir(), "lastcall-d3-"));
      try {
        await judgeClean(court, path.join(folder, "clean"));
        await Promise.all(KILLS_MS.map((ms, n) => judgeKilled(court, path.join(folder, `killed-${n}`), ms)));
        court.measure("killed", KILLS_MS.length);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }),
};
