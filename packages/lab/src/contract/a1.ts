/** A1: readiness says no at once, at every door, and never yes again. */

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Clause, Need } from "./clause.ts";
import type { Copy } from "./copy.ts";
import { type Hearing, SLACK_MS, hearing, sinceT0 } from "./court.ts";
import { putInFlight, untilRefused, warm } from "./moves.ts";
import type { Answer, Wire } from "./wire.ts";

const NEEDS: readonly Need[] = ["routes.ready", "routes.ordinary", "settings.drainDelay"];
const LIMIT_MS = 100;
const DRAIN_DELAY_MS = 700;
const ADVICE =
  "Turn readiness to 503 in the signal handler itself, before anything else, and keep the listener open.";

interface Sample {
  readonly sentMs: number;
  readonly answer: Answer & { readonly wire: Wire | null };
}

/** Asks again and again until nothing answers any more. */
async function watch(court: Hearing, copy: Copy, door: "public" | "admin"): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  while (copy.running) {
    const sentMs = performance.now();
    // A probe follows its predecessor, as a load balancer's does.
    const answer = await copy.ask(court.target("ready"), door);
    samples.push({ sentMs, answer });
    if (answer.status === null) {
      break;
    }
    await pause(30);
  }
  return samples;
}

async function judgeDoor(court: Hearing, copy: Copy, door: "public" | "admin"): Promise<void> {
  const samples = await watch(court, copy, door);
  court.onTime(copy, DRAIN_DELAY_MS, samples[0]?.answer.endAtMs);
  const first = samples.find((sample) => sample.answer.status === 503);
  const wire = samples[0]?.answer.wire;
  court.demand(
    first !== undefined,
    `Readiness never answered 503 on the ${door} port after the stop signal.`,
    {
      todo: ADVICE,
      wire,
    },
  );
  court.measure(`notReadyAfterMs (${door})`, sinceT0(copy, first.answer.endAtMs));
  for (const { sentMs, answer } of samples) {
    const yes = answer.status === 200;
    const late = sentMs > (copy.t0Ms ?? 0) + LIMIT_MS + SLACK_MS || sentMs > first.sentMs;
    court.demand(
      !(yes && late),
      `Readiness answered 200 on the ${door} port ${sinceT0(copy, sentMs)} ms after t0.`,
      { todo: ADVICE, wire: answer.wire, timing: true },
    );
  }
}

async function judgeFail(court: Hearing): Promise<void> {
  const admin = court.subject.adminPort !== undefined;
  const copy = await court.start({ set: { drainDelay: DRAIN_DELAY_MS }, admin });
  const before = await copy.ask(court.target("ready"));
  if (before.status !== 200) {
    court.leave(`Readiness answered ${String(before.status)} before the stop signal.`);
  }
  copy.signal();
  await Promise.all([judgeDoor(court, copy, "public"), admin ? judgeDoor(court, copy, "admin") : null]);
  await court.exit(copy, 5000, "Nothing was in flight: exit when the drain delay is over.");
  if (court.subject.record) {
    const { accepted } = court.record(copy).requests;
    court.demand(accepted === 0, `The record counts ${accepted} requests where only probes were sent.`, {
      todo: "Leave probes out of the in-flight count: a load balancer asks for ever.",
    });
  }
}

/** `readinessInLameDuck: "keep"`: 200 through the delay, 503 from the gate on. */
async function judgeKeep(court: Hearing): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 500, readinessInLameDuck: "keep", linger: 1000 } });
  const idle = await warm(court, copy);
  await putInFlight(court, copy, court.target("slow", { seconds: 1.5 }));
  copy.signal();
  const answer = await copy.ask(court.target("ready"));
  court.onTime(copy, 500);
  const evidence = { todo: "With readinessInLameDuck keep, readiness turns at the gate.", wire: answer.wire };
  court.demandAnswer(answer, [200], "Readiness in the drain delay, told to keep,", evidence);
  await untilRefused(copy, 5000);
  idle.request(court.target("ready"));
  const late = await idle.answer();
  court.onTime(copy, 1400);
  court.demandAnswer(late, [503], "Readiness after the gate", { ...evidence, wire: idle });
}

export const clause: Clause = {
  id: "A1",
  level: "core",
  title: "readiness answers 503 within 100 ms of the stop signal, at every door, and never 200 again",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      await judgeFail(court);
      if (subject.settings.readinessInLameDuck !== undefined && subject.routes.slow !== undefined) {
        await judgeKeep(court);
      }
    }),
};
