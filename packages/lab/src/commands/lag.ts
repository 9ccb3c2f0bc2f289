/** `lastcall lag URL`: a small request loop against a deployed service while somebody restarts one instance of it. */

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { isatty } from "node:tty";
import { LabError } from "../errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { findingsOf, lossOf, LOSS_KINDS, QUIET_MS, type Mark } from "../lag/findings.ts";
import { createLooker, type Look } from "../lag/look.ts";
import { startLoop } from "../lag/loop.ts";
import { renderLag } from "../render/lag.ts";
import { styleFor } from "../render/style.ts";
import { seconds } from "../render/timeline.ts";
import { Interrupted, openScope } from "../rollout/scope.ts";
import { duration, number } from "../scenario/option-values.ts";
import type { Command, Io } from "./command.ts";
import { readFlags, type FlagTypes } from "./flags.ts";

const FLAGS = {
  rate: "string",
  for: "string",
  after: "string",
  timeout: "string",
  "keep-alive": "boolean",
  "instance-header": "string",
  json: "boolean",
  "no-color": "boolean",
  help: "boolean",
} as const satisfies FlagTypes;

const HELP = `Usage: lastcall lag URL [options] [-- COMMAND...]

Sends GET requests to a deployed service at a small fixed rate while one of its instances is
restarted, and says how long the router went on sending to the leaving instance, and what was lost.
Restart the instance yourself and press Enter at that moment, or give the command that does it.

  --rate N               requests per second (10; at most 100)
  --for TIME             the whole loop (60s; at most 30m)
  --after TIME           with a command: how long to go on once it has ended (15s)
  --timeout TIME         a request that takes longer is lost (10s)
  --keep-alive           pooled connections; otherwise a new one for each request
  --instance-header NAME in which an instance says its name (x-lastcall-copy; else the pid of a
                         JSON body)
  --json                 on standard output
  --no-color             as NO_COLOR
  --help

Ctrl-C ends the loop and prints what was learnt.

Exit codes: 0 a restart was seen and nothing lost, 1 something was lost, 2 wrong usage, 3 could not
run, 4 nothing was seen to restart, 130 interrupted.

Examples
  lastcall lag https://shop.example/healthz
  lastcall lag http://127.0.0.1:8080/ -- docker restart shop-2
`;

/** More would be a load test, which this is not. */
const MAX_RATE = 100;
const MAX_OPEN = 200;
const BASELINE_LOOKS = 3;
const STATUS_EVERY_MS = 1000;

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new LabError(
      "LAB_OPTION",
      `'${text}' is no URL of a service.`,
      "Write http://HOST:PORT/PATH or https://...",
    );
  }
  return url;
}

/** Enter, where somebody sits at a terminal. */
function onEnter(listener: () => void): () => void {
  if (!isatty(0)) {
    return () => undefined;
  }
  const lines = createInterface({ input: process.stdin });
  lines.on("line", listener);
  return () => lines.close();
}

/** The command that stops the instance; resolves with how it ended. */
function begin(
  command: readonly string[],
  io: Io,
): { readonly child: ChildProcess; readonly ended: Promise<string> } {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd: io.cwd, env: { ...io.env }, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.on("data", (text: Buffer) => io.err(text.toString()));
  child.stderr.on("data", (text: Buffer) => io.err(text.toString()));
  const ended = new Promise<string>((resolve, reject) => {
    child.once("error", (cause) =>
      reject(
        new LabError(
          "LAB_TARGET_NOT_STARTED",
          `'${program}' could not be started: ${cause.message}.`,
          "Check the command after --; it is run without a shell.",
          { cause },
        ),
      ),
    );
    child.once("close", (code, signal) => resolve(signal ?? `exit code ${code ?? 0}`));
  });
  return { child, ended };
}

function assertReached(looks: readonly Look[], url: URL): void {
  if (
    looks.length >= BASELINE_LOOKS &&
    looks.every((look) => lossOf(look) !== null || (look.status ?? 0) >= 400)
  ) {
    const [first] = looks;
    throw new LabError(
      "LAB_ROUTE_REFUSED",
      `GET ${url.href} failed ${looks.length} of ${looks.length} times before anything was restarted (${first?.error ?? first?.status ?? ""}).`,
      "Name a URL that answers with a status below 400.",
    );
  }
}

async function run(args: readonly string[], io: Io): Promise<ExitCode> {
  const [target, ...rest] = args;
  if (target === undefined || target === "--help" || target === "-h") {
    io.out(HELP);
    return target === undefined ? EXIT.usage : EXIT.pass;
  }
  const url = urlOf(target);
  const { values, command } = readFlags("lag", rest, FLAGS);
  const text = (name: keyof typeof FLAGS): string | undefined => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  if (values["help"] === true) {
    io.out(HELP);
    return EXIT.pass;
  }
  if (command?.length === 0) {
    throw new LabError(
      "LAB_USAGE",
      "There is no command after --.",
      "Write the one that restarts an instance, or drop the --.",
    );
  }
  const ratePerSecond = number("rate", text("rate"), 10, 0.1, MAX_RATE, false);
  const forMs = duration("for", text("for"), 60_000, 1000, 1_800_000);
  const afterMs = duration("after", text("after"), 15_000, 0, 1_800_000);
  const startedMs = performance.now();
  const now = (): number => performance.now() - startedMs;
  const looker = createLooker({
    url,
    keepAlive: values["keep-alive"] === true,
    timeoutMs: duration("timeout", text("timeout"), 10_000, 100, 120_000),
    instanceHeader: (text("instance-header") ?? "x-lastcall-copy").toLowerCase(),
    now,
  });

  const scope = openScope(io.interrupted);
  const looks: Look[] = [];
  const marks: Mark[] = [];
  let lastLossMs = -Infinity;
  let over = false;
  const mark = (what: string): void => {
    marks.push({ atMs: now(), what });
    io.err(`${seconds(now())} s  ${what}\n`);
  };
  const loop = startLoop({
    looker,
    ratePerSecond,
    maxOpen: MAX_OPEN,
    now,
    onLook: (look) => {
      if (over) {
        return; // We have hung up on it ourselves.
      }
      looks.push(look);
      const kind = lossOf(look);
      if (kind !== null) {
        if (look.sentMs - lastLossMs > QUIET_MS) {
          io.err(`${seconds(look.sentMs)} s  the first loss: ${LOSS_KINDS[kind].title}\n`);
        }
        lastLossMs = Math.max(lastLossMs, look.sentMs);
      }
    },
  });
  scope.defer(() => looker.close());
  let interrupted = false;
  try {
    while (looks.length < BASELINE_LOOKS) {
      await scope.sleep(20);
    }
    assertReached(looks.slice(0, BASELINE_LOOKS), url);
    if (command === undefined) {
      if (isatty(0)) {
        io.err("Restart an instance now, and press Enter when you do.\n");
      }
      scope.defer(onEnter(() => mark("Enter")));
      const status = setInterval(() => {
        if (io.tty) {
          io.err(`\r${seconds(now())} s  ${looks.length} answered or lost `);
        }
      }, STATUS_EVERY_MS);
      scope.defer(() => clearInterval(status));
      await scope.sleep(Math.max(0, forMs - now()));
    } else {
      // What is usual must be known before anything is stopped.
      await scope.sleep(Math.min(2000, forMs / 4));
      mark(command.join(" "));
      const { child, ended } = begin(command, io);
      scope.defer(() => void child.kill());
      const how = await scope.within(ended, Math.max(0, forMs - now()));
      io.err(
        how === null
          ? "The command still runs; the loop's time is over.\n"
          : `${seconds(now())} s  the command ended: ${how}\n`,
      );
      await scope.sleep(Math.min(afterMs, Math.max(0, forMs - now())));
    }
  } catch (error) {
    if (!(error instanceof Interrupted)) {
      throw error;
    }
    interrupted = true;
    io.err("Interrupted; this is what was learnt.\n");
  } finally {
    const stopped = loop.stop();
    if (interrupted) {
      over = true;
      looker.close(); // Nobody waits for the slow ones any more.
    } else {
      await stopped;
    }
    await scope.close();
  }
  const lastedMs = now();
  const found = findingsOf({ looks, marks, ratePerSecond, heldBack: loop.heldBack, endMs: lastedMs });
  const exitCode = interrupted
    ? EXIT.interrupted
    : !found.restartSeen
      ? EXIT.invalidRun
      : found.lost > 0
        ? EXIT.failed
        : EXIT.pass;
  if (values["json"] === true) {
    io.out(
      `${JSON.stringify({ schema: "lastcall.lag/1", exitCode, url: url.href, lastedMs, ...found }, null, 2)}\n`,
    );
  } else {
    io.out(renderLag(found, url.href, lastedMs, styleFor(isatty(1), values["no-color"] === true, io.env)));
  }
  return exitCode;
}

export const lagCommand: Command = {
  summary: "the lag of the router in front of a deployed service, while you restart one instance",
  run,
};
