/**
 * G1: PID 1 of a container has no default action for signals, and nothing that it raises for itself ends it. Whatever a
 * service does with a stop elsewhere, it must do here: the same stop is watched in both places.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { Clause, Need } from "./clause.ts";
import type { Exit } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight } from "./moves.ts";
import { initPrefix } from "./processes.ts";
import type { Wire } from "./wire.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "settings.drainDelay"];
const GRACEFUL_TIMEOUT_MS = 700;
const PATIENCE_MS = 4000;
const DEAF =
  "Install a handler for the stop signal: to PID 1 the kernel delivers no signal that has none, and nothing it raises for itself ends it.";

interface Seen {
  readonly wire: Wire;
  readonly answered: boolean;
  /** Null when it was still there after `PATIENCE_MS`. */
  readonly exit: Exit | null;
  readonly exitMs: number;
}

async function watchStop(court: Hearing, before: readonly string[], work: "short" | "stuck"): Promise<Seen> {
  const copy = await court.start({
    set: { drainDelay: 0, ...(work === "stuck" ? { gracefulTimeout: GRACEFUL_TIMEOUT_MS } : {}) },
    before,
  });
  const target = court.target("slow", { seconds: work === "stuck" ? 600 : 0.8 });
  // A connection that stays open would be another matter (B7).
  const wire = await putInFlight(court, copy, target, { headers: { Connection: "close" } });
  copy.signal();
  const giveUp = new AbortController();
  const late = pause(PATIENCE_MS, null, { signal: giveUp.signal }).catch(() => null);
  const [answer, exit] = await Promise.all([
    wire.answer({ timeoutMs: PATIENCE_MS }),
    Promise.race([copy.exited, late]),
  ]);
  giveUp.abort();
  const answered = answer.status === 200 && answer.ended === "whole";
  return { wire, answered, exit, exitMs: exit === null ? PATIENCE_MS : sinceT0(copy, exit.atMs) };
}

function describe({ exit }: Seen): string {
  return exit === null ? "nothing" : (exit.signal ?? `exit code ${String(exit.code)}`);
}

async function judgeStop(court: Hearing, before: readonly string[], work: "short" | "stuck"): Promise<void> {
  const [elsewhere, init] = await Promise.all([watchStop(court, [], work), watchStop(court, before, work)]);
  if (elsewhere.exit === null) {
    court.measure(`exit (${work} work)`, "does not leave elsewhere either");
    return;
  }
  court.measure(`exit (${work} work)`, describe(init));
  court.measure(`exitMs (${work} work)`, init.exitMs);
  court.demand(
    init.exit !== null,
    `PID 1 was still running ${PATIENCE_MS} ms after the stop signal; the same program as another process left after ${elsewhere.exitMs} ms.`,
    { todo: DEAF, wire: init.wire },
  );
  court.demand(
    init.answered || !elsewhere.answered,
    "A request in flight was answered elsewhere, and not by PID 1.",
    {
      todo: "Find what differs in a container: the signal's handler, a wrapper, the parent.",
      wire: init.wire,
    },
  );
  court.demand(
    elsewhere.exit.code === null || elsewhere.exit.code === init.exit.code,
    `PID 1 left with ${describe(init)}; the same program as another process left with ${describe(elsewhere)}.`,
    { todo: "Leave by an exit with a code, not by a signal to oneself.", wire: init.wire },
  );
}

export const clause: Clause = {
  id: "G1",
  level: "process",
  title:
    "it works as PID 1: the stop signal is heard, work in flight is answered, the exit codes are the same",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const before = initPrefix();
      if (before === null) {
        court.leave("nobody may make a process namespace here (unshare --pid), so nothing can be PID 1");
      }
      await judgeStop(court, before, "short");
      if (subject.settings.gracefulTimeout !== undefined) {
        await judgeStop(court, before, "stuck");
      }
    }),
};
