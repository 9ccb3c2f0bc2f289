/** `signal`: one request in flight, a polite stop and a hard kill. */

import { askOn, inWords, isAnswered, type Fate } from "./answer.ts";
import type { Experiment } from "./experiment.ts";
import { check, judge, seconds, timed, type Judgement } from "./judgement.ts";
import type { Exit } from "./orders.ts";
import type { Stage } from "./stage.ts";

const WORK_S = 3;
const SIGNAL_AFTER_MS = 700;
const KNOCK_AFTER_MS = 400;

export interface SignalCase {
  readonly inFlight: Fate;
  /** A new connection, 0.4 s after the signal. */
  readonly fresh: Fate;
  readonly exit: Exit;
  /** What the service noted after the signal, in order. */
  readonly order: readonly string[];
}

export interface SignalFacts {
  readonly polite: SignalCase;
  readonly kill: SignalCase;
  readonly lateMs: number;
}

async function playCase(stage: Stage, name: string, signal: "SIGTERM" | "SIGKILL"): Promise<SignalCase> {
  const service = await stage.start({ name, build: "lastcall" });
  const wire = await service.open();
  const answered = askOn(wire, { path: `/work?seconds=${WORK_S}` });
  await stage.sleep(SIGNAL_AFTER_MS);
  const exited = service.stop(signal);
  await stage.sleep(KNOCK_AFTER_MS);
  const fresh = await stage.until(service.ask({ path: "/work?seconds=0", timeoutMs: 3000 }));
  const inFlight = await stage.until(answered);
  const exit = await stage.until(exited);
  const moments = await service.timeline();
  stage.tale.say(
    `The request: ${inWords(inFlight)}. A new connection ${seconds(KNOCK_AFTER_MS)} after the signal: ${inWords(fresh)}. ` +
      `Exit ${seconds(exit.afterMs)} after the signal, ${exit.signal ?? `code ${exit.code ?? "?"}`}.`,
  );
  stage.tale.timeline("Seconds since the signal, from the service's own files", moments);
  const order = moments.filter((one) => one.seconds >= 0).map(({ text }) => text);
  const facts = { inFlight, fresh, exit, order };
  stage.learnt(name, facts);
  return facts;
}

/** Each of them somewhere after the one before. */
function inOrder(order: readonly string[], words: readonly RegExp[]): boolean {
  let from = 0;
  return words.every((word) => {
    const at = order.findIndex((text, index) => index >= from && word.test(text));
    from = at + 1;
    return at >= 0;
  });
}

export function judgeSignal({ polite, kill, lateMs }: SignalFacts): Judgement {
  const tail = polite.exit.afterMs - (WORK_S * 1000 - SIGNAL_AFTER_MS);
  return judge(
    [
      check(
        "SIGTERM: the request in flight is answered",
        isAnswered(polite.inFlight, 200),
        inWords(polite.inFlight),
      ),
      timed("SIGTERM: after the 3 s that it takes", polite.inFlight.afterMs, 2900, 3900, lateMs),
      check("SIGTERM: a new connection is refused", polite.fresh.ending === "refused", inWords(polite.fresh)),
      check("SIGTERM: exit code 0", polite.exit.code === 0, `${polite.exit.signal ?? polite.exit.code}`),
      timed("SIGTERM: the exit follows the answer at once", tail, -100, 800, lateMs),
      check(
        "SIGTERM: the listener closes first, then the work ends, the database closes last",
        inOrder(polite.order, [
          /^signal/,
          /^gate/,
          /^drained/,
          /^teardown begins/,
          /^database closed/,
          /^exit/,
        ]),
        polite.order.map((text) => text.replace(/ \S+=.*$/, "")).join(", "),
      ),
      check(
        "SIGKILL: the request is cut",
        kill.inFlight.ending === "cut" && kill.inFlight.status === null,
        inWords(kill.inFlight),
      ),
      timed("SIGKILL: at the signal", kill.inFlight.afterMs, 650, 1300, lateMs),
      check(
        "SIGKILL: nothing is noted after it",
        kill.exit.signal === "SIGKILL" &&
          !kill.order.some((text) => /^(?:FINISH|database closed|exit)/.test(text)),
        kill.order.filter((text) => !text.startsWith("signal")).join(", ") || "nothing",
      ),
    ],
    `SIGTERM lost nothing and took as long as the request in flight (exit after ${seconds(polite.exit.afterMs)}); SIGKILL cut it and closed nothing.`,
  );
}

export const signalExperiment: Experiment = {
  name: "signal",
  summary: "one request in flight, a polite stop and a hard kill",
  question:
    "A request that takes 3 s is in flight. After 0.7 s the service is stopped, once with SIGTERM and once with SIGKILL. " +
    "What becomes of the request, who still gets in, and in which order is everything closed?",
  lastsS: 6,
  play: async (stage) => {
    stage.tale.part("SIGTERM: please stop");
    const polite = await playCase(stage, "polite", "SIGTERM");
    stage.tale.part("SIGKILL: it cannot be handled");
    const kill = await playCase(stage, "kill", "SIGKILL");
    const facts = { polite, kill, lateMs: stage.lateMs() };
    return { facts, judgement: judgeSignal(facts) };
  },
};
