/** `lastcall rollout`: flags and configuration -> plans -> runs -> rows -> report. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isatty } from "node:tty";
import { LabError } from "../errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { LEDGER_FILE } from "../ledger/writer.ts";
import { renderDetails, renderHead, renderOutcome, renderTable } from "../render/rollout.ts";
import { rolloutJson } from "../render/rollout-json.ts";
import { startProgress } from "../render/progress.ts";
import { styleFor } from "../render/style.ts";
import { exitCodeOf, judgeRow, type Row } from "../rollout/row.ts";
import { runRollout } from "../rollout/run.ts";
import { findNginx } from "../router/nginx.ts";
import { readConfig, type ConfigNames } from "../scenario/config.ts";
import { planRollout, type RolloutOptions, type RolloutPlan } from "../scenario/plan.ts";
import { startGuardian, type Guardian } from "../target/guardian.ts";
import { judgeStream } from "../verdict/judge.ts";
import type { Command, Io } from "./command.ts";
import { readFlags, type FlagTypes } from "./flags.ts";

/** Flags that a configuration may hold too. */
const SHARED = {
  scenario: "string",
  all: "boolean",
  router: "string",
  propagation: "string",
  order: "string",
  retries: "boolean",
  "upstream-keepalive": "boolean",
  "client-keepalive": "boolean",
  rate: "string",
  copies: "string",
  repeat: "string",
  seed: "string",
  "drain-delay": "string",
  build: "string",
  ready: "string",
  get: "string",
  post: "string",
  "post-body": "string",
  executed: "string",
  grace: "string",
  "ready-timeout": "string",
  attempts: "string",
  out: "string",
} as const satisfies FlagTypes;
const FLAGS = { ...SHARED, json: "boolean", help: "boolean", "no-color": "boolean" } as const;
/** What `lastcall.config.json` may hold under `rollout`. */
export const CONFIG: ConfigNames = { ...SHARED, command: "list" };

const HELP = `Usage: lastcall rollout [options] [-- COMMAND...]

Restarts every copy of a service behind a router, one after the other, under open-loop load, and
says what was lost. Without a command it runs the orders service, whose rows each carry what they
must show. A command of yours is run without a shell, in its own process group; it takes its port
from {port} or PORT, and is judged strictly: any loss that is the service's is a finding.

What is run
  --scenario NAME       kill-retries, kill, stop-retries, stop, drain-short, drain (default: drain)
  --all                 all of them, or those that say something about your command
  --repeat N            restarts of each copy, one copy after the other (1)
  --build NAME          of the orders service: naive, bare, lastcall (each row has its own)
  --drain-delay TIME    each row has its own; handed on as {drainDelay} and LASTCALL_DRAIN_DELAY
  --grace TIME          SIGKILL after this (30s); handed on as LASTCALL_GRACE_PERIOD

The router
  --router NAME         nginx or embedded (nginx if it is found, or named by LASTCALL_NGINX)
  --propagation TIME    from the stop signal until the router has dropped the copy (1s)
  --order ORDER         parallel: signal and removal start together;
                        remove-first: the router drops the copy, then the signal is sent
  --retries             the router tries the next copy, by nginx's default rule
  --upstream-keepalive  pooled connections to the copies
  --client-keepalive    pooled connections from the clients

The load
  --rate N              requests per second (20)
  --copies N            2 to 16 (2)
  --seed N              of the mix of requests
  --attempts N          run a row again that is invalid because the machine was too busy (1)

Your service
  --ready PATH          readiness (/ready)
  --get PATH            may hold {id} (/)
  --post PATH           may hold {id}; none by default
  --post-body JSON      may hold {id} ({"id":"{id}"})
  --executed FILE       where your service appends each id that it has executed, one a line
  --ready-timeout TIME  (15s)

Output
  --out FOLDER          ledger, logs and stores of the run (.lastcall/runs/<time>-<scenario>)
  --json                the rows and their verdicts on standard output
  --no-color            as NO_COLOR
  --help

lastcall.config.json may hold the same under "rollout", by the same names, and the command as
"command". Flags win.

Exit codes: 0 every row shows what it must, 1 findings, 2 wrong usage, 3 could not run,
4 invalid run, 130 interrupted.

Examples
  lastcall rollout --all
  lastcall rollout --router nginx --repeat 20 --upstream-keepalive --client-keepalive
  lastcall rollout --get /items/{id} --post /items --executed done.txt -- node app.js --port {port}
`;

/** 20261129T215501: sorts by time, and is a file name everywhere. */
function stamp(now: Date): string {
  return now.toISOString().replaceAll(/[-:]|\.\d+Z$/g, "");
}

function runFolders(plans: readonly RolloutPlan[], out: string | undefined, cwd: string): readonly string[] {
  const several = plans.length > 1;
  const base = path.join(".lastcall", "runs");
  const now = stamp(new Date());
  const folders = plans.map(({ scenario }) =>
    out === undefined
      ? path.join(base, `${now}-${scenario}`)
      : several
        ? path.join(out, scenario)
        : path.normalize(out),
  );
  for (const folder of folders) {
    const whole = path.resolve(cwd, folder);
    if (existsSync(path.join(whole, LEDGER_FILE))) {
      throw new LabError("LAB_RUN_FOLDER", `${folder} holds a run already.`, "Choose another --out.");
    }
    try {
      mkdirSync(whole, { recursive: true });
      // A run is nothing to commit.
      if (out === undefined && !existsSync(path.resolve(cwd, ".lastcall", ".gitignore"))) {
        writeFileSync(path.resolve(cwd, ".lastcall", ".gitignore"), "*\n");
      }
    } catch (error) {
      throw new LabError(
        "LAB_RUN_FOLDER",
        `The run's folder ${folder} cannot be made: ${error instanceof Error ? error.message : String(error)}.`,
        "Choose a folder that can be written with --out.",
        { cause: error },
      );
    }
  }
  return folders;
}

type Nginx = Awaited<ReturnType<typeof findNginx>>;

async function chooseNginx(plans: readonly RolloutPlan[], io: Io): Promise<Nginx> {
  const wanted = plans[0]?.router.name ?? "auto";
  if (wanted === "embedded") {
    return null;
  }
  const found = await findNginx(io.env);
  if (found === null && wanted === "nginx") {
    throw new LabError(
      "LAB_ROUTER_MISSING",
      `nginx was asked for and not found${io.env["LASTCALL_NGINX"] === undefined ? " on the PATH, in /usr/sbin or in /usr/local/sbin" : ` at ${io.env["LASTCALL_NGINX"]}`}.`,
      "Install it (apt-get install nginx-light, brew install nginx), name it with LASTCALL_NGINX, or use --router embedded.",
    );
  }
  io.err(
    found === null
      ? "Router: embedded. nginx was not found; the embedded router follows its rules.\n"
      : `Router: ${found.version}.\n`,
  );
  return found;
}

/** A row, run again while it is invalid and attempts are left; null when interrupted. */
async function runRow(
  plan: RolloutPlan,
  firstFolder: string,
  nginx: Nginx,
  guardian: Guardian,
  io: Io,
): Promise<Row | null> {
  for (let attempt = 1; ; attempt += 1) {
    const folder = attempt === 1 ? firstFolder : `${firstFolder}-${attempt}`;
    const progress = startProgress(plan, io.tty, io.err, () => performance.now());
    let result: Awaited<ReturnType<typeof runRollout>>;
    try {
      result = await runRollout(plan, {
        guardian,
        nginx,
        folder: path.resolve(io.cwd, folder),
        cwd: io.cwd,
        env: io.env,
        interrupted: io.interrupted,
        onRecord: progress.see,
      });
    } catch (error) {
      io.err(`The run's folder is ${folder}\n`);
      throw error;
    } finally {
      progress.end();
    }
    if (result.ended === "interrupted") {
      io.err(`Interrupted. Copies and router have been ended; the ledger so far is in ${folder}\n`);
      return null;
    }
    const row = judgeRow(plan, await judgeStream(result.records), folder);
    if (row.verdict.outcome !== "invalid" || attempt >= plan.attempts) {
      return row;
    }
    io.err(`${plan.scenario}: ${row.why}. Once more: attempt ${attempt + 1} of ${plan.attempts}.\n`);
  }
}

async function run(args: readonly string[], io: Io): Promise<ExitCode> {
  const flags = readFlags("rollout", args, FLAGS);
  if (flags.values["help"] === true) {
    io.out(HELP);
    return EXIT.pass;
  }
  const { json, "no-color": noColor, ...given } = flags.values;
  const configured = readConfig(io.cwd, "rollout", CONFIG);
  const options = {
    ...configured,
    ...given,
    ...(flags.command === undefined ? {} : { command: flags.command }),
  } as RolloutOptions & { readonly out?: string };
  const plans = planRollout(options);
  const nginx = await chooseNginx(plans, io);
  const folders = runFolders(plans, options.out, io.cwd);
  const style = styleFor(io.tty && isatty(1), noColor === true, io.env);
  const guardian = startGuardian();
  const rows: Row[] = [];
  try {
    for (const [index, plan] of plans.entries()) {
      const row = await runRow(plan, folders[index] ?? ".", nginx, guardian, io);
      if (row === null) {
        return EXIT.interrupted;
      }
      rows.push(row);
    }
  } finally {
    guardian.close();
  }
  const exitCode = exitCodeOf(rows);
  if (json === true) {
    io.out(rolloutJson(rows, exitCode));
    return exitCode;
  }
  const details = rows.map((row) => renderDetails(row, style, rows.length === 1)).join("\n\n");
  io.out(
    `\n${renderHead(rows)}\n\n${renderTable(rows, style)}\n\n${details}\n\n${renderOutcome(rows, style)}\n`,
  );
  return exitCode;
}

export const rollout: Command = {
  summary: "restart every copy of a service under load behind a router, and say what was lost",
  run,
};
