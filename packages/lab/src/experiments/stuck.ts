/** `stuck`: work that does not end. What a stop without a limit waits for, and what a deadline cuts. */

import { requestBytes } from "../contract/wire.ts";
import { askOn, fateOf, inWords, isAnswered, type Fate } from "./answer.ts";
import type { Experiment } from "./experiment.ts";
import { check, judge, seconds, timed, type Check, type Judgement } from "./judgement.ts";
import type { Exit, OrdersService, ShutdownRecord } from "./orders.ts";
import type { Stage } from "./stage.ts";

const LIMIT_MS = 2000;
const SPIN_MS = 10_000;
const LIMITED = ["--graceful-timeout", "2s"];

export interface StuckCase {
  readonly fate: Fate;
  /** Null: still running when we stopped waiting. */
  readonly exit: Exit | null;
  readonly record: ShutdownRecord | null;
  /** For a case that has one: whether the thread's work had really finished. */
  readonly threadFinished: boolean;
}

export interface StuckFacts {
  readonly six: { readonly naive: StuckCase; readonly lastcall: StuckCase };
  readonly minute: { readonly naive: StuckCase; readonly lastcall: StuckCase };
  readonly thread: StuckCase;
  readonly spin: { readonly naive: StuckCase; readonly lastcall: StuckCase };
  readonly lateMs: number;
}

type Build = "naive" | "lastcall";

/** `patienceMs`: how long to wait for the exit, from the signal. */
async function wait(
  stage: Stage,
  service: OrdersService,
  fate: Promise<Fate>,
  patienceMs: number,
): Promise<StuckCase> {
  const exit = await stage.scope.within(service.stop(), patienceMs);
  if (exit === null) {
    await service.copy.end(); // Nothing more is to be learnt; its client sees that as the end.
  }
  return {
    fate: await stage.until(fate),
    exit,
    record: service.record(),
    threadFinished: service.events().includes("sync work finished"),
  };
}

async function inFlight(
  stage: Stage,
  build: Build,
  name: string,
  path: string,
  args: readonly string[],
  patienceMs: number,
): Promise<StuckCase> {
  const service = await stage.start({ name: `${name}-${build}`, build, args });
  const wire = await service.open();
  // The client leaves with its answer: a connection that it kept would hold a server without a limit for 5 s more.
  const fate = askOn(wire, { path, timeoutMs: 30_000 }).finally(() => wire.close());
  await stage.sleep(600);
  return wait(stage, service, fate, patienceMs);
}

/** A request whose second half arrives after the signal: the loop is blocked when the stop has begun. */
async function spinning(stage: Stage, build: Build): Promise<StuckCase> {
  const args = build === "lastcall" ? LIMITED : [];
  const service = await stage.start({ name: `spin-${build}`, build, args });
  const wire = await service.open();
  const bytes = requestBytes({ method: "GET", path: `/spin?ms=${SPIN_MS}` });
  wire.send(bytes.slice(0, 20));
  await stage.sleep(200); // Nothing on the other side says that it has come.
  const waited = wait(
    stage,
    service,
    stage.sleep(100).then(async () => {
      const sentMs = stage.now();
      wire.send(bytes.slice(20));
      const answer = await wire.answer({ timeoutMs: 30_000 });
      wire.close();
      return fateOf(answer, sentMs);
    }),
    20_000,
  );
  return waited;
}

function exitInWords(exit: Exit | null): string {
  return exit === null
    ? "still running 5 s later"
    : `exit ${exit.signal ?? exit.code} after ${seconds(exit.afterMs)}`;
}

/** The record tells the callers, too. */
const innermost = (blockedIn: string): string => blockedIn.split(" < ", 1)[0] ?? "";

function recordInWords({ record, threadFinished }: StuckCase): string {
  if (record === null) {
    return "none";
  }
  const cut = record.unfinished.map((one) => `${one.route} (${one.cut})`);
  const tasks = record.unfinishedTasks.map((one) => `${one.name} (${one.fate})`);
  const blocked = record.blockedIn === undefined ? [] : [`blocked in ${innermost(record.blockedIn)}`];
  const names = [...cut, ...tasks, ...blocked, ...(threadFinished ? ["the thread had finished"] : [])];
  return [record.outcome, ...names].join(", ");
}

function cutAtLimit(what: string, one: StuckCase, lateMs: number): readonly Check[] {
  return [
    timed(
      `${what}: the exit comes at the limit of 2 s`,
      one.exit?.afterMs ?? null,
      LIMIT_MS - 100,
      LIMIT_MS + 650,
      lateMs,
    ),
    check(`${what}: exit code 3`, one.exit?.code === 3, exitInWords(one.exit)),
  ];
}

export function judgeStuck({ six, minute, thread, spin, lateMs }: StuckFacts): Judgement {
  const six200 = [six.naive, six.lastcall].every((one) => isAnswered(one.fate, 200));
  const blocked = spin.lastcall.record?.blockedIn;
  return judge(
    [
      check(
        "6 s of work: both answer it",
        six200,
        `${inWords(six.naive.fate)}, ${inWords(six.lastcall.fate)}`,
      ),
      timed(
        "6 s of work: naive leaves when it has ended",
        six.naive.exit?.afterMs ?? null,
        5000,
        6600,
        lateMs,
      ),
      timed(
        "6 s of work: so does lastcall, within its 10 s",
        six.lastcall.exit?.afterMs ?? null,
        5000,
        6600,
        lateMs,
      ),
      check(
        "60 s of work: naive still runs 5 s later",
        minute.naive.exit === null,
        exitInWords(minute.naive.exit),
      ),
      ...cutAtLimit("60 s of work, limit 2 s", minute.lastcall, lateMs),
      check(
        "60 s of work, limit 2 s: the client gets a clean 503",
        isAnswered(minute.lastcall.fate, 503),
        inWords(minute.lastcall.fate),
      ),
      check(
        "60 s of work, limit 2 s: the record names the request",
        minute.lastcall.record?.unfinished.some(({ route }) => route.startsWith("GET /work")) === true,
        recordInWords(minute.lastcall),
      ),
      ...cutAtLimit("a thread that cannot be cancelled", thread, lateMs),
      check(
        "a thread that cannot be cancelled: abandoned by name, unfinished",
        !thread.threadFinished &&
          thread.record?.unfinishedTasks.some(
            ({ name, fate }) => name.startsWith("sync-work") && fate === "abandoned",
          ) === true,
        recordInWords(thread),
      ),
      timed(
        "a blocked event loop: naive leaves when the loop is free again",
        spin.naive.exit?.afterMs ?? null,
        SPIN_MS - 500,
        SPIN_MS + 4000,
        lateMs,
      ),
      ...cutAtLimit("a blocked event loop", spin.lastcall, lateMs),
      check(
        "a blocked event loop: the function that blocks it is named",
        blocked?.includes("spin") === true,
        blocked === undefined ? "no name" : innermost(blocked),
      ),
    ],
    `without a limit a stop takes as long as the longest work (${seconds(spin.naive.exit?.afterMs ?? 0)} of blocked loop, or for ever); with one of 2 s it ended after ${seconds(minute.lastcall.exit?.afterMs ?? 0)} (request), ${seconds(thread.exit?.afterMs ?? 0)} (thread) and ${seconds(spin.lastcall.exit?.afterMs ?? 0)} (blocked loop), each named.`,
  );
}

export const stuckExperiment: Experiment = {
  name: "stuck",
  summary: "work that does not end: requests, a thread, a blocked event loop",
  question:
    "A stop has to wait for work, and has to end. `naive` waits for its connections without a limit; `lastcall` has a graceful " +
    "timeout (10 s, and 2 s where it says so). Four kinds of work: 6 s, 60 s, a thread that nothing can cancel, and a loop that " +
    "blocks everything once the stop has begun.",
  lastsS: 30,
  play: async (stage) => {
    const { tale } = stage;
    const rows: string[][] = [];
    const tell = (work: string, build: Build, limit: string, one: StuckCase): StuckCase => {
      rows.push([work, build, limit, inWords(one.fate), exitInWords(one.exit)]);
      stage.learnt(`${work}, ${build}`, one);
      tale.say(
        `${work}, ${build}, ${limit}: ${inWords(one.fate)}; ${exitInWords(one.exit)}.${one.record === null ? "" : ` Its record: ${recordInWords(one)}.`}`,
      );
      return one;
    };
    tale.part("A request of 6 s");
    const [sixNaive, sixLastcall] = await Promise.all([
      inFlight(stage, "naive", "six", "/work?seconds=6", [], 20_000),
      inFlight(stage, "lastcall", "six", "/work?seconds=6", [], 20_000),
    ]);
    tell("6 s of work", "naive", "no limit", sixNaive);
    tell("6 s of work", "lastcall", "limit 10 s", sixLastcall);
    tale.part("A request of 60 s");
    const [minuteNaive, minuteLastcall] = await Promise.all([
      inFlight(stage, "naive", "minute", "/work?seconds=60", [], 5000),
      inFlight(stage, "lastcall", "minute", "/work?seconds=60", LIMITED, 20_000),
    ]);
    tell("60 s of work", "naive", "no limit", minuteNaive);
    tell("60 s of work", "lastcall", "limit 2 s", minuteLastcall);
    tale.part("8 s of work on a thread that cannot be cancelled");
    const thread = await inFlight(stage, "lastcall", "thread", "/sync-work?seconds=8", LIMITED, 20_000);
    tell("8 s on a thread", "lastcall", "limit 2 s", thread);
    tale.part("A loop that blocks for 10 s, begun after the signal");
    const spinLastcall = await spinning(stage, "lastcall");
    tell("10 s blocked", "lastcall", "limit 2 s", spinLastcall);
    const spinNaive = await spinning(stage, "naive");
    tell("10 s blocked", "naive", "no limit", spinNaive);
    tale.table(["work", "build", "limit", "the client", "the process"], rows);
    const facts: StuckFacts = {
      six: { naive: sixNaive, lastcall: sixLastcall },
      minute: { naive: minuteNaive, lastcall: minuteLastcall },
      thread,
      spin: { naive: spinNaive, lastcall: spinLastcall },
      lateMs: stage.lateMs(),
    };
    return { facts, judgement: judgeStuck(facts) };
  },
};
