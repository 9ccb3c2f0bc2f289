/** `lastcall prove -- COMMAND`: the contract, clause by clause, against any HTTP service. */

import { readFileSync, writeFileSync } from "node:fs";
import { isatty } from "node:tty";
import path from "node:path";
import type { Subject } from "../contract/subject.ts";
import { LabError } from "../errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { describeSubject } from "../prove/description.ts";
import { preflight } from "../prove/preflight.ts";
import { chooseClauses, countJudgements, prove, type Proof } from "../prove/prove.ts";
import { routeOf } from "../prove/routes.ts";
import { proofJson, proofJunit, proofMarkdown, renderLine, renderProof } from "../render/prove.ts";
import { styleFor, type Style } from "../render/style.ts";
import { CONFIG_FILE, readSection } from "../scenario/config.ts";
import { startGuardian } from "../target/guardian.ts";
import type { Command, Io } from "./command.ts";
import { readFlags } from "./flags.ts";

/** Flags that name a route, with the method that such a route has unless the configuration says otherwise. */
const ROUTES = {
  live: "GET",
  ready: "GET",
  ordinary: "GET",
  slow: "GET",
  stream: "GET",
  upload: "POST",
  bulk: "GET",
  task: "POST",
} as const satisfies Partial<Record<keyof Subject["routes"], "GET" | "POST">>;

const FLAGS = {
  config: "string",
  library: "string",
  only: "string",
  level: "string",
  jobs: "string",
  json: "boolean",
  junit: "string",
  markdown: "string",
  live: "string",
  ready: "string",
  ordinary: "string",
  slow: "string",
  stream: "string",
  upload: "string",
  bulk: "string",
  task: "string",
  "drain-delay": "string",
  "no-color": "boolean",
  help: "boolean",
} as const;

const HELP = `Usage: lastcall prove [options] [-- COMMAND...]

Holds a service, in any language, against the shutdown contract (docs/contract.md), clause by
clause: raw sockets, signals, exit codes. What your service does not have is "not judged", and it
says why. A broken clause comes with the trace of the one connection that shows it, and with what
to do.

Which clauses
  --only A5,B2        these
  --level LEVEL       core, protocol, process or honest

Your service (more under "prove" in lastcall.config.json: how its times are set, what it prints)
  --config FILE       instead of ./lastcall.config.json
  --library lastcall  it runs with lastcall: settings, record and exit codes are the library's
  --ready PATH        readiness
  --live PATH         liveness
  --ordinary PATH     answers 200 at once (/, else the slow route with 0 seconds)
  --slow PATH         answers after {seconds}; without it, but with --upload, a request is made long
                      by holding half of its body back
  --stream PATH       streams for {seconds}
  --upload PATH       POST: reads its whole body
  --bulk PATH         answers {bytes} of anything; without the two above A6 and B1 read its answer late
  --task PATH         POST: answers 202, then works for {seconds}
  --drain-delay TIME  the drain delay that it has, if it cannot be set (0)

Output
  --json              on standard output
  --junit FILE        as well
  --markdown FILE     as well; for a pull request
  --jobs N            hearings at a time (4)
  --no-color          as NO_COLOR
  --help

Exit codes: 0 nothing broken, 1 something broken, 2 wrong usage, 3 could not run, 130 interrupted.

Examples
  lastcall prove --ready /healthz --slow '/report?wait={seconds}' -- python app.py --port {port}
  lastcall prove --library lastcall --ready /readyz -- node app.js
  lastcall prove --only A5 -- node app.js
`;

type Values = Readonly<Record<string, string | boolean>>;

function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

function readDescription(values: Values, io: Io): Readonly<Record<string, unknown>> {
  const named = text(values, "config");
  const file = path.resolve(io.cwd, named ?? CONFIG_FILE);
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (error) {
    if (named === undefined) {
      return {};
    }
    throw new LabError(
      "LAB_CONFIG",
      `${named} cannot be read: ${String(error)}.`,
      "Name a file that exists.",
      {
        cause: error,
      },
    );
  }
  return readSection(content, "prove");
}

function flagRoutes(values: Values): Subject["routes"] {
  const given = Object.entries(ROUTES).flatMap(([name, method]) => {
    const at = text(values, name);
    return at === undefined ? [] : [[name, routeOf(method, at, name)] as const];
  });
  return Object.fromEntries(given);
}

function jobsOf(values: Values): number {
  const given = text(values, "jobs") ?? "4";
  const jobs = Number(given);
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > 64) {
    throw new LabError(
      "LAB_OPTION",
      `--jobs is '${given}'.`,
      "Hearings at a time: a whole number from 1 to 64.",
    );
  }
  return jobs;
}

function writeReport(file: string | undefined, content: () => string, io: Io): void {
  if (file === undefined) {
    return;
  }
  try {
    writeFileSync(path.resolve(io.cwd, file), content());
  } catch (error) {
    throw new LabError(
      "LAB_OUTPUT",
      `${file} cannot be written: ${String(error)}.`,
      "Choose a file that can be.",
      {
        cause: error,
      },
    );
  }
}

async function run(args: readonly string[], io: Io): Promise<ExitCode> {
  const { values, command } = readFlags("prove", args, FLAGS);
  if (values["help"] === true) {
    io.out(HELP);
    return EXIT.pass;
  }
  const clauses = chooseClauses(text(values, "only"), text(values, "level"));
  const jobs = jobsOf(values);
  const library = text(values, "library");
  const described = describeSubject(
    { ...readDescription(values, io), ...(library === undefined ? {} : { library }) },
    command,
    flagRoutes(values),
    text(values, "drain-delay"),
  );
  const guardian = startGuardian();
  const style: Style = styleFor(isatty(1), values["no-color"] === true, io.env);
  const interrupted = new Promise<"interrupted">((resolve) => {
    io.interrupted.addEventListener("abort", () => resolve("interrupted"), { once: true });
  });
  try {
    const proving = (async (): Promise<Proof> => {
      const { subject, runsLastcall } = await preflight({ ...described, guardian });
      const proof = await prove(subject, clauses, jobs, io.interrupted, (one, done) => {
        if (one.judgement.kind !== "not judged") {
          io.err(`[${done}/${clauses.length}] ${renderLine(one, style)}\n`);
        }
      });
      return { ...proof, hasLibraryUnsaid: runsLastcall && !subject.record };
    })();
    const proof = await Promise.race([proving, interrupted]);
    if (proof === "interrupted") {
      proving.catch(() => undefined); // Its copies are ended below; what the hearings say of that is no news.
      return EXIT.interrupted;
    }
    const exitCode = countJudgements(proof).broken > 0 ? EXIT.failed : EXIT.pass;
    // First: a file that cannot be written must not cost what was found.
    io.out(values["json"] === true ? proofJson(proof, exitCode) : renderProof(proof, style));
    writeReport(text(values, "junit"), () => proofJunit(proof), io);
    writeReport(text(values, "markdown"), () => proofMarkdown(proof), io);
    return exitCode;
  } finally {
    guardian.close();
  }
}

export const proveCommand: Command = {
  summary: "hold any HTTP service against the shutdown contract, clause by clause",
  run,
};
