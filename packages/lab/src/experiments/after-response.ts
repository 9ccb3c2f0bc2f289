/** `after-response`: a mail that is sent after its request has been answered. Who still waits for it? */

import { isAnswered } from "./answer.ts";
import type { Experiment } from "./experiment.ts";
import { check, judge, seconds, timed, type Judgement } from "./judgement.ts";
import type { Exit, ShutdownRecord } from "./orders.ts";
import type { Stage } from "./stage.ts";

const MODES = ["background", "task", "tracked"] as const;
type Mode = (typeof MODES)[number];
type Build = "naive" | "lastcall";

export interface MailCase {
  /** The request was answered 202. */
  readonly accepted: boolean;
  readonly sent: boolean;
  readonly exit: Exit;
  /** Mails asked for and not sent, as the service counts them at its exit; null where it did not say. */
  readonly unsent: number | null;
  readonly record: ShutdownRecord | null;
}

export interface AfterResponseFacts {
  readonly naive: Readonly<Record<Mode, MailCase>>;
  readonly lastcall: Readonly<Record<Mode, MailCase>>;
  /** Tracked, with a deadline shorter than the mail. */
  readonly aborted: MailCase;
  readonly abandoned: MailCase;
  readonly lateMs: number;
}

/** The mail takes `delayS`; the signal comes half a second after the answer. */
async function playCase(
  stage: Stage,
  build: Build,
  name: string,
  path: string,
  args: readonly string[] = [],
): Promise<MailCase> {
  const service = await stage.start({ name, build, args });
  const answer = await stage.until(service.ask({ method: "POST", path: `${path}&tag=${name}`, body: "{}" }));
  await stage.sleep(500);
  const exit = await stage.until(service.stop());
  const exitLine = (await service.timeline()).find(({ text }) => text.startsWith("exit "))?.text;
  const unsent = /unsentMails=(\d+)/.exec(exitLine ?? "")?.[1];
  const facts = {
    accepted: isAnswered(answer, 202),
    sent: service.outbox().includes(name),
    exit,
    unsent: unsent === undefined ? null : Number(unsent),
    record: service.record(),
  };
  stage.learnt(name, facts);
  return facts;
}

async function threeModes(stage: Stage, build: Build): Promise<Record<Mode, MailCase>> {
  const played = await Promise.all(
    MODES.map(
      async (mode) =>
        [mode, await playCase(stage, build, `${build}-${mode}`, `/email/${mode}?delay=2.5`)] as const,
    ),
  );
  return Object.fromEntries(played) as Record<Mode, MailCase>;
}

const fate = ({ sent }: MailCase): string => (sent ? "SENT" : "LOST");

function tasksInWords({ record }: MailCase): string {
  const tasks = record?.tasks;
  return tasks === undefined
    ? "no record"
    : `aborted ${tasks.aborted}, abandoned ${tasks.abandoned}, completed ${tasks.completed}`;
}

export function judgeAfterResponse(facts: AfterResponseFacts): Judgement {
  const { naive, lastcall, aborted, abandoned, lateMs } = facts;
  const all = [...Object.values(naive), ...Object.values(lastcall), aborted, abandoned];
  const accepted = all.filter((one) => one.accepted).length;
  const expected = (mode: Mode, one: MailCase, sent: boolean, build: Build): ReturnType<typeof check> =>
    check(
      `${build}, ${mode}: ${sent ? "SENT" : "LOST"}`,
      one.sent === sent,
      `${fate(one)}, exit after ${seconds(one.exit.afterMs)}`,
    );
  return judge(
    [
      check("every mail was promised with a 202", accepted === all.length, `${accepted} of ${all.length}`),
      ...MODES.map((mode) => expected(mode, naive[mode], false, "naive")),
      expected("background", lastcall.background, true, "lastcall"),
      expected("task", lastcall.task, false, "lastcall"),
      expected("tracked", lastcall.tracked, true, "lastcall"),
      timed("lastcall, task: nobody waits for it", lastcall.task.exit.afterMs, 0, 1500, lateMs),
      timed(
        "lastcall, tracked: the exit waits for the 2 s that are left",
        lastcall.tracked.exit.afterMs,
        1700,
        3200,
        lateMs,
      ),
      check(
        "lastcall, task: the service at least counts it",
        lastcall.task.unsent === 1,
        `${lastcall.task.unsent ?? "unknown"} unsent`,
      ),
      check(
        "past its deadline a tracked mail is aborted, and said so",
        !aborted.sent && aborted.record?.tasks.aborted === 1 && aborted.exit.code === 3,
        tasksInWords(aborted),
      ),
      check(
        "or abandoned, and said so",
        !abandoned.sent && abandoned.record?.tasks.abandoned === 1 && abandoned.exit.code === 3,
        tasksInWords(abandoned),
      ),
    ],
    `work after the response survives a stop only where somebody waits for it: the naive service lost 3 of 3 promised mails, lastcall sent the tracked one and the one inside its handler, and lost only the promise that nobody held.`,
  );
}

export const afterResponseExperiment: Experiment = {
  name: "after-response",
  summary: "a mail after the answer: inside the handler, as a bare promise, tracked",
  question:
    "The service answers 202 and sends the mail afterwards, in three ways: inside the request's own handler (background), as a " +
    "promise that nobody holds (task), as tracked work (tracked). At SIGTERM each mail still needs 2 s. Which are sent?",
  lastsS: 15,
  play: async (stage) => {
    const { tale } = stage;
    tale.part("2 s are left at the signal, and there is time");
    const naive = await threeModes(stage, "naive");
    const lastcall = await threeModes(stage, "lastcall");
    tale.table(
      ["mail", "naive", "exit after", "lastcall", "exit after"],
      MODES.map((mode) => [
        mode,
        fate(naive[mode]),
        seconds(naive[mode].exit.afterMs),
        fate(lastcall[mode]),
        seconds(lastcall[mode].exit.afterMs),
      ]),
    );
    tale.part("5 s are left at the signal, and the deadline is 1 s");
    const short = ["--graceful-timeout", "1s"];
    const [aborted, abandoned] = await Promise.all([
      playCase(stage, "lastcall", "aborted", "/email/tracked?delay=5.5&fate=abort", short),
      playCase(stage, "lastcall", "abandoned", "/email/tracked?delay=5.5&fate=abandon", short),
    ]);
    tale.table(
      ["fate asked for", "mail", "exit", "the record's tasks"],
      [
        [
          "abort",
          fate(aborted),
          `${aborted.exit.code} after ${seconds(aborted.exit.afterMs)}`,
          tasksInWords(aborted),
        ],
        [
          "abandon",
          fate(abandoned),
          `${abandoned.exit.code} after ${seconds(abandoned.exit.afterMs)}`,
          tasksInWords(abandoned),
        ],
      ],
    );
    tale.say("A third fate, handing the mail to the next process, is not in the library yet and not played.");
    const facts = { naive, lastcall, aborted, abandoned, lateMs: stage.lateMs() };
    return { facts, judgement: judgeAfterResponse(facts) };
  },
};
