/** `six`: six requests through a router while their only copy is stopped, and a seventh that comes too late. */

import type { Router } from "../router/router.ts";
import { ask, inWords, isAnswered, type Fate } from "./answer.ts";
import type { Experiment } from "./experiment.ts";
import { check, judge, timed, type Judgement } from "./judgement.ts";
import type { OrdersSpec } from "./orders.ts";
import type { Stage } from "./stage.ts";

const SIX = 6;

export interface SixCase {
  readonly fates: readonly Fate[];
  /** Lines of the service's access log. */
  readonly started: number;
  readonly finished: number;
  /** Lines of the router's error log that say that the upstream ended the connection. */
  readonly upstreamClosed: number;
}

export interface LateCase {
  readonly inFlight: readonly Fate[];
  /** The request that is sent once the stop has begun. */
  readonly late: Fate;
}

export interface SixFacts {
  readonly router: string;
  readonly bare: SixCase;
  readonly lastcall: SixCase;
  readonly noDelay: LateCase;
  /** A listener that is open while nobody accepts: the process stands still. */
  readonly notAccepting: Fate;
  readonly delay: LateCase;
  readonly lateMs: number;
}

function burst(router: Router, count: number, seconds: number): Promise<Fate[]> {
  return Promise.all(
    Array.from({ length: count }, (_, n) =>
      ask(router.port, { path: `/work?seconds=${seconds}&id=${n + 1}` }),
    ),
  );
}

async function six(stage: Stage, build: OrdersSpec["build"]): Promise<readonly [SixCase, string]> {
  const service = await stage.start({ name: `six-${build}`, build });
  const router = await stage.route([service]);
  const answers = burst(router, SIX, 1);
  await stage.sleep(400);
  const exited = service.stop();
  const fates = await stage.until(answers);
  await stage.until(exited);
  const log = await router.log();
  const lines = service.accessLog();
  const facts = {
    fates,
    started: lines.filter((line) => line.includes(" START ")).length,
    finished: lines.filter((line) => line.includes(" FINISH ")).length,
    upstreamClosed: log.filter((line) => line.class === "upstream-closed" || line.class === "reset").length,
  };
  stage.learnt(`six, ${build}`, facts);
  return [facts, router.version];
}

/** Two requests in flight, the signal, and one more that comes 0.6 s later. */
async function late(stage: Stage, name: string, args: readonly string[]): Promise<LateCase> {
  const service = await stage.start({ name, build: "lastcall", args });
  const router = await stage.route([service]);
  const answers = burst(router, 2, 1.5);
  await stage.sleep(300);
  const exited = service.stop();
  // The library leaves its door open for up to 250 ms after the gate while clients keep coming (here, the lab's own probes).
  await stage.sleep(600);
  const one = await stage.until(ask(router.port, { path: "/work?seconds=0.1&id=late" }));
  const facts = { inFlight: await stage.until(answers), late: one };
  await stage.until(exited);
  stage.learnt(name, facts);
  return facts;
}

async function notAccepting(stage: Stage): Promise<Fate> {
  const service = await stage.start({ name: "standing", build: "bare" });
  const router = await stage.route([service]);
  process.kill(service.copy.pid, "SIGSTOP");
  const fate = await stage.until(ask(router.port, { path: "/work?seconds=0.1&id=late", timeoutMs: 2000 }));
  await service.copy.end();
  return fate;
}

function together(fates: readonly Fate[]): string {
  const by = new Map<string, number[]>();
  for (const fate of fates) {
    const what = fate.ending === "answered" ? String(fate.status) : fate.ending;
    by.set(what, [...(by.get(what) ?? []), fate.afterMs]);
  }
  return [...by]
    .map(
      ([what, times]) =>
        `${times.length} x ${what} after ${(Math.min(...times) / 1000).toFixed(2)} to ${(Math.max(...times) / 1000).toFixed(2)} s`,
    )
    .join(", ");
}

export function judgeSix({
  bare,
  lastcall,
  noDelay,
  notAccepting: standing,
  delay,
  lateMs,
}: SixFacts): Judgement {
  const all = (fates: readonly Fate[], status: number): boolean =>
    fates.every((fate) => isAnswered(fate, status));
  const last = (fates: readonly Fate[]): number => Math.max(...fates.map(({ afterMs }) => afterMs));
  return judge(
    [
      check("bare: six times 502", bare.fates.length === SIX && all(bare.fates, 502), together(bare.fates)),
      timed("bare: at the signal", last(bare.fates), 350, 900, lateMs),
      check(
        "bare: the service began six and finished none",
        bare.started === SIX && bare.finished === 0,
        `${bare.started} START, ${bare.finished} FINISH`,
      ),
      check(
        "bare: the router's log blames the upstream",
        bare.upstreamClosed >= SIX,
        `${bare.upstreamClosed} lines`,
      ),
      check(
        "lastcall: six times 200",
        lastcall.fates.length === SIX && all(lastcall.fates, 200),
        together(lastcall.fates),
      ),
      check(
        "lastcall: the service finished six",
        lastcall.finished === SIX,
        `${lastcall.started} START, ${lastcall.finished} FINISH`,
      ),
      check(
        "no drain delay: what is in flight is answered",
        all(noDelay.inFlight, 200),
        together(noDelay.inFlight),
      ),
      check(
        "no drain delay: a new request fails, at once",
        isAnswered(noDelay.late, 502),
        inWords(noDelay.late),
      ),
      timed(
        "no drain delay: within milliseconds, which a router can make good",
        noDelay.late.afterMs,
        0,
        300,
        lateMs,
      ),
      check(
        "a door that is open while nobody accepts holds its client for ever",
        standing.ending === "silent",
        inWords(standing),
      ),
      check(
        "2 s of drain delay: what is in flight is answered",
        all(delay.inFlight, 200),
        together(delay.inFlight),
      ),
      check(
        "2 s of drain delay: the new request is served",
        isAnswered(delay.late, 200),
        inWords(delay.late),
      ),
    ],
    `without a handler all six fail at the signal; with lastcall all six are answered, and with a drain delay so is the one that came after the signal.`,
  );
}

export const sixExperiment: Experiment = {
  name: "six",
  summary: "six requests through a router, and a new one during the drain",
  question:
    "Six requests of 1 s go through a router that never tries again, to its only copy, which gets SIGTERM after 0.4 s. First a " +
    "service without any handler, then lastcall. Then the question that a drain alone does not answer: what becomes of a " +
    "request that the router sends after the signal?",
  lastsS: 14,
  play: async (stage) => {
    const { tale } = stage;
    tale.part("Six in flight");
    const [bare, router] = await six(stage, "bare");
    tale.say(`The router: ${router}.`);
    const [lastcall] = await six(stage, "lastcall");
    tale.table(
      ["build", "the clients", "service's log", "router's log"],
      (
        [
          ["bare", bare],
          ["lastcall", lastcall],
        ] as const
      ).map(([build, one]) => [
        build,
        together(one.fates),
        `${one.started} START, ${one.finished} FINISH`,
        one.upstreamClosed === 0 ? "nothing" : `${one.upstreamClosed} x upstream closed the connection`,
      ]),
    );
    tale.part("A request that comes 0.6 s after the signal");
    const noDelay = await late(stage, "no-delay", []);
    const standing = await notAccepting(stage);
    const delay = await late(stage, "delay", ["--drain-delay", "2s"]);
    tale.table(
      ["the service", "two in flight", "the new one"],
      [
        ["no drain delay: the listener is closed", together(noDelay.inFlight), inWords(noDelay.late)],
        ["its listener open, and nobody accepts", "-", `${inWords(standing)}: the client gave up`],
        ["drain delay 2 s: not ready, still serving", together(delay.inFlight), inWords(delay.late)],
      ],
    );
    const facts = { router, bare, lastcall, noDelay, notAccepting: standing, delay, lateMs: stage.lateMs() };
    return { facts, judgement: judgeSix(facts) };
  },
};
