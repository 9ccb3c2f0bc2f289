/** `drain`: one held request, once released in time and once never. */

import { requestBytes } from "../contract/wire.ts";
import { ask, askOn, inWords, isAnswered, type Fate } from "./answer.ts";
import type { Experiment } from "./experiment.ts";
import { check, judge, seconds, timed, type Judgement } from "./judgement.ts";
import type { Exit, OrdersService, ShutdownRecord } from "./orders.ts";
import type { Stage } from "./stage.ts";

export interface DrainFacts {
  readonly completed: {
    readonly ready: Fate;
    readonly onLive: Fate;
    readonly onNew: Fate;
    /** Requests in flight as the service counts them during the drain; null: it did not say. */
    readonly counted: number | null;
    readonly held: Fate;
    readonly exit: Exit;
    readonly record: ShutdownRecord | null;
  };
  readonly expired: {
    readonly held: Fate;
    readonly exit: Exit;
    readonly record: ShutdownRecord | null;
    readonly deadlineNoted: boolean;
  };
  readonly lateMs: number;
}

/** A request that is held until somebody releases it; surely read by the service when this returns. */
async function hold(stage: Stage, service: OrdersService): Promise<{ readonly answer: Promise<Fate> }> {
  const wire = await service.open();
  const answer = askOn(wire, { path: "/hold", timeoutMs: 20_000 });
  await stage.until(service.ask({ path: "/work?seconds=0" }));
  return { answer };
}

function countedIn(state: Fate): number | null {
  try {
    const { requests } = JSON.parse(state.body) as { readonly requests?: { readonly inFlight?: number } };
    return requests?.inFlight ?? null;
  } catch {
    return null;
  }
}

async function completed(stage: Stage): Promise<DrainFacts["completed"]> {
  const adminPort = await stage.port();
  const service = await stage.start({
    name: "completed",
    build: "lastcall",
    args: ["--admission", "respond", "--admin-port", String(adminPort)],
  });
  const held = await hold(stage, service);
  const live = await service.open();
  await stage.until(askOn(live, { path: "/work?seconds=0" }));
  // Begun before the signal, ended after it: the way to let go of the held request once no new one is taken.
  const releasing = await service.open();
  const release = requestBytes({ method: "POST", path: "/release" }, { body: "{}" });
  releasing.send(release.slice(0, -1));
  await stage.until(service.ask({ path: "/work?seconds=0" }));

  const exited = service.stop();
  await stage.sleep(300);
  const ready = await stage.until(ask(adminPort, { path: "/ready" }));
  const onLive = await stage.until(askOn(live, { path: "/work?seconds=0" }));
  const onNew = await stage.until(service.ask({ path: "/work?seconds=0" }));
  const counted = countedIn(await stage.until(ask(adminPort, { path: "/statez" })));
  releasing.send(release.slice(-1));
  const facts = {
    ready,
    onLive,
    onNew,
    counted,
    held: await stage.until(held.answer),
    exit: await stage.until(exited),
    record: service.record(),
  };
  stage.learnt("completed", facts);
  stage.tale.table(
    ["during the drain", "seen"],
    [
      ["readiness", inWords(ready)],
      ["a new request on a live connection", `${inWords(onLive)}, ${onLive.body}`],
      ["a new request on a new connection", `${inWords(onNew)}, ${onNew.body}`],
      ["requests in flight, as the service counts them", String(counted)],
      ["the held request, once released", inWords(facts.held)],
    ],
  );
  stage.tale.timeline("Seconds since the signal", await service.timeline());
  return facts;
}

async function expired(stage: Stage): Promise<DrainFacts["expired"]> {
  const service = await stage.start({
    name: "expired",
    build: "lastcall",
    args: ["--admission", "respond", "--graceful-timeout", "1s"],
  });
  const held = await hold(stage, service);
  const exit = await stage.until(service.stop());
  const facts = {
    held: await stage.until(held.answer),
    exit,
    record: service.record(),
    deadlineNoted: service.events().includes("deadline expired"),
  };
  stage.learnt("expired", facts);
  stage.tale.timeline("Seconds since the signal", await service.timeline());
  return facts;
}

function isDraining(fate: Fate): boolean {
  return isAnswered(fate, 503) && fate.body.includes('"draining"');
}

const exitInWords = ({ code, signal, afterMs }: Exit): string =>
  `${signal ?? code} after ${seconds(afterMs)}`;

export function judgeDrain({ completed: done, expired: over, lateMs }: DrainFacts): Judgement {
  return judge(
    [
      check("completed: readiness says no", isAnswered(done.ready, 503), inWords(done.ready)),
      check(
        "completed: a new request on a live connection is told `draining`",
        isDraining(done.onLive),
        `${inWords(done.onLive)} ${done.onLive.body}`,
      ),
      check(
        "completed: and on a new connection",
        isDraining(done.onNew),
        `${inWords(done.onNew)} ${done.onNew.body}`,
      ),
      check(
        "completed: the held request still counts",
        (done.counted ?? 0) >= 1,
        `${done.counted ?? "unknown"} in flight`,
      ),
      check("completed: released, it is answered", isAnswered(done.held, 200), inWords(done.held)),
      check(
        "completed: nothing unfinished, exit code 0",
        done.record?.requests.unfinished === 0 && done.exit.code === 0,
        `${done.record?.requests.unfinished ?? "no record"} unfinished, exit ${exitInWords(done.exit)}`,
      ),
      check(
        "expired: its client is told of no success",
        (over.held.status ?? 599) >= 400,
        inWords(over.held),
      ),
      check(
        "expired: one unfinished, exit code 3",
        over.record?.requests.unfinished === 1 && over.exit.code === 3,
        `${over.record?.requests.unfinished ?? "no record"} unfinished, exit ${exitInWords(over.exit)}`,
      ),
      check("expired: the deadline is noted", over.deadlineNoted, over.deadlineNoted ? "noted" : "not noted"),
      timed("expired: at the limit of 1 s", over.exit.afterMs, 900, 1800, lateMs),
    ],
    `a drain ends in one of two ways, and says which: everything answered and exit 0, or ${over.record?.requests.unfinished ?? 0} request cut after ${seconds(over.exit.afterMs)}, named, and exit 3.`,
  );
}

export const drainExperiment: Experiment = {
  name: "drain",
  summary: "one held request: a drain that completes, and one that expires",
  question:
    "One request is held by the lab; nobody else knows when it will end. The service is told to stop and refuses new work with " +
    "a clear 503 (admission `respond`). Once the request is released in time; once it never is, and the limit is 1 s.",
  lastsS: 6,
  play: async (stage) => {
    stage.tale.part("Released in time");
    const done = await completed(stage);
    stage.tale.part("Never released");
    const over = await expired(stage);
    const facts = { completed: done, expired: over, lateMs: stage.lateMs() };
    return { facts, judgement: judgeDrain(facts) };
  },
};
