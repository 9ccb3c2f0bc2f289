/** `lastcall rollout`: flags and configuration -> plans -> runs -> rows -> report. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { isatty } from "node:tty";
import { LabError } from "../errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { renderDetails } from "../render/rollout-details.ts";
import { renderHead, renderOutcome, renderTable } from "../render/rollout.ts";
import { rolloutJson } from "../render/rollout-json.ts";
import { renderPage } from "../render/html/page.ts";
import { startProgress, type Terminal } from "../render/progress.ts";
import { styleFor } from "../render/style.ts";
import type { ControlRecord, TrialRecord } from "../ledger/records.ts";
import { addToLedger } from "../ledger/writer.ts";
import { openLedger } from "../report/open-ledger.ts";
import { pageScript } from "../report/page-script.ts";
import { reportOf } from "../report/run-report.ts";
import { REPORT_FILE, writeReport } from "../report/write-report.ts";
import { controlOf, controlsFor } from "../rollout/controls.ts";
import { factorsFor, trialOf } from "../rollout/explain.ts";
import { exitCodeOf, judgeRow, type Row } from "../rollout/row.ts";
import { openPlace, type Place } from "../rollout/place.ts";
import type { RunResult } from "../rollout/run.ts";
import { folderAgain, runFolders } from "../rollout/run-folder.ts";
import type { FoundRouter } from "../router/router.ts";
import { chooseRouter } from "../router/start.ts";
import { readConfig, type ConfigNames } from "../scenario/config.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import { planRollout } from "../scenario/planning.ts";
import type { RolloutOptions } from "../scenario/rollout-options.ts";
import { startGuardian, type Guardian } from "../target/guardian.ts";
import { createJudge, type Judged } from "../verdict/judge.ts";
import type { Command, Io } from "./command.ts";
import { readFlags, type FlagTypes } from "./flags.ts";
import { HELP } from "./rollout-help.ts";

/** Flags that a configuration may hold too. */
const SHARED = {
  scenario: "string",
  all: "boolean",
  router: "string",
  propagation: "string",
  order: "string",
  retries: "boolean",
  "retry-posts": "boolean",
  "upstream-keepalive": "boolean",
  "client-keepalive": "boolean",
  removal: "string",
  "pooled-at-removal": "string",
  "health-interval": "string",
  "health-fall": "string",
  "health-rise": "string",
  "max-fails": "string",
  "fail-timeout": "string",
  rate: "string",
  load: "string",
  arrivals: "string",
  engine: "string",
  "load-workers": "string",
  protocol: "string",
  copies: "string",
  repeat: "string",
  seed: "string",
  "drain-delay": "string",
  build: "string",
  ready: "string",
  live: "string",
  get: "string",
  post: "string",
  "post-body": "string",
  executed: "string",
  witness: "string",
  grace: "string",
  "ready-timeout": "string",
  attempts: "string",
  "warm-up": "string",
  explain: "boolean",
  controls: "boolean",
  platform: "string",
  "compose-file": "string",
  service: "string",
  "container-port": "string",
  url: "string",
  "drain-node": "string",
  engines: "string",
  out: "string",
} as const satisfies FlagTypes;
const FLAGS = {
  ...SHARED,
  html: "string",
  json: "boolean",
  help: "boolean",
  "no-color": "boolean",
} as const;
/** What `lastcall.config.json` may hold under `rollout`. */
export const CONFIG: ConfigNames = { ...SHARED, command: "list" };

/** A finished row, and its reruns where they were asked for; null when interrupted. */
async function runWithReruns(
  plan: RolloutPlan,
  folder: string,
  found: FoundRouter | null,
  guardian: Guardian,
  live: Terminal | null,
  io: Io,
  place: Place,
): Promise<Row | null> {
  const row = await runRow(plan, folder, found, guardian, live, io, place);
  if (row === null || row.verdict.outcome === "invalid") {
    return row;
  }
  const again = async (name: string, words: string, changed: RolloutPlan): Promise<Row | null> => {
    io.err(`Once more, with ${words}.\n`);
    const router = changed.router.name === "embedded" ? null : found;
    return runRow(changed, `${folder}-${name}`, router, guardian, live, io, place);
  };
  const factors = plan.explain ? factorsFor(plan, row.verdict) : [];
  const controls = plan.controls ? controlsFor(plan, row.verdict) : [];
  const note = (record: TrialRecord | ControlRecord): Promise<void> =>
    addToLedger(path.resolve(io.cwd, row.folder), record);
  for (const { factor, plan: changed } of factors) {
    const rerun = await again(factor.name, factor.words, changed);
    if (rerun === null) {
      return null;
    }
    await note({ kind: "trial", ...trialOf(factor, row.verdict, rerun.verdict, rerun.folder) });
  }
  for (const control of controls) {
    const rerun = await again(control.name, control.words, control.plan);
    if (rerun === null) {
      return null;
    }
    await note({ kind: "control", ...controlOf(control, rerun.verdict, rerun.folder) });
  }
  // Judged again from its ledger, as anybody may do later: what its reruns say stands there now.
  const opened = factors.length + controls.length === 0 ? null : await openLedger(row.folder, io.cwd);
  if (opened === null) {
    return row;
  }
  writePage(opened.judged, row.folder, io);
  return judgeRow(plan, opened.judged.verdict, row.folder);
}

async function chooseFor(plans: readonly RolloutPlan[], io: Io): Promise<FoundRouter | null> {
  const [first] = plans;
  if (first === undefined || first.service.kind === "swarm") {
    return null;
  }
  const found = await chooseRouter(first.router.name, first.router, io.env);
  if (found !== null) {
    io.err(`Router: ${found.version}.\n`);
  } else if (first.router.name === "auto") {
    io.err("Router: embedded. No other that could do it was found; it follows nginx's rules.\n");
  }
  return found;
}

/** A row, run again while it is invalid and attempts are left; null when interrupted. */
async function runRow(
  plan: RolloutPlan,
  firstFolder: string,
  found: FoundRouter | null,
  guardian: Guardian,
  live: Terminal | null,
  io: Io,
  place: Place,
): Promise<Row | null> {
  for (let attempt = 1; ; attempt += 1) {
    const folder = attempt === 1 ? firstFolder : folderAgain(firstFolder, attempt, io.cwd);
    const progress = startProgress(plan, live, io.err, () => performance.now());
    let result: RunResult;
    try {
      result = await place.run(plan, {
        guardian,
        router: found,
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
    const judge = createJudge();
    result.records.forEach(judge.add);
    const judged = judge.judged();
    writePage(judged, folder, io);
    if (result.ended === "interrupted") {
      io.err(
        `Interrupted. Copies and router have been ended; the ledger and the report so far are in ${folder}\n`,
      );
      return null;
    }
    const row = judgeRow(plan, judged.verdict, folder);
    if (row.verdict.outcome !== "invalid" || attempt >= plan.attempts) {
      return row;
    }
    io.err(`${plan.scenario}: ${row.why}. Once more: attempt ${attempt + 1} of ${plan.attempts}.\n`);
  }
}

function readLoadFile(file: string, given: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new LabError(
      "LAB_LOAD_PLAN",
      `--load ${given} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      "Name a file with a mix of requests; see docs/rollout.md.",
      { cause: error },
    );
  }
}

/** A page for each run costs some tens of milliseconds, and is there when somebody wants to look. */
function writePage(judged: Judged, folder: string, io: Io): void {
  const page = renderPage({ report: reportOf(judged, []), before: null, script: pageScript() });
  writeReport(path.join(folder, REPORT_FILE), io.cwd, page);
}

/** Of several rows each has its own file: `report.html` becomes `report-stop.html`. */
function copyReports(rows: readonly Row[], wanted: string, io: Io): void {
  const { dir, name, ext } = path.parse(wanted);
  for (const { folder, plan } of rows) {
    const file = rows.length === 1 ? wanted : path.join(dir, `${name}-${plan.scenario}${ext}`);
    writeReport(file, io.cwd, readFileSync(path.resolve(io.cwd, folder, REPORT_FILE), "utf8"));
    io.err(`The report is ${file}\n`);
  }
}

async function run(args: readonly string[], io: Io): Promise<ExitCode> {
  const flags = readFlags("rollout", args, FLAGS);
  if (flags.values["help"] === true) {
    io.out(HELP);
    return EXIT.pass;
  }
  const { json, html, "no-color": noColor, ...given } = flags.values;
  const configured = readConfig(io.cwd, "rollout", CONFIG);
  const options = {
    ...configured,
    ...given,
    ...(flags.command === undefined ? {} : { command: flags.command }),
  } as RolloutOptions & { readonly out?: string };
  const asked = planRollout(options, (file) => readLoadFile(path.resolve(io.cwd, file), file));
  const [first] = asked;
  if (first === undefined) {
    return EXIT.pass;
  }
  const place = await openPlace(first, io.cwd, io.env);
  if (place.about !== null) {
    io.err(`${place.about}\n`);
  }
  const plans = asked.map(place.planned);
  const found = await chooseFor(plans, io);
  const folders = runFolders(plans, options.out, io.cwd);
  const style = styleFor(io.tty && isatty(1), noColor === true, io.env);
  const live =
    io.tty && io.env["TERM"] !== "dumb"
      ? { columns: io.columns ?? (() => 80), style: styleFor(true, noColor === true, io.env) }
      : null;
  const guardian = startGuardian();
  const rows: Row[] = [];
  try {
    for (const [index, plan] of plans.entries()) {
      const row = await runWithReruns(plan, folders[index] ?? ".", found, guardian, live, io, place);
      if (row === null) {
        return EXIT.interrupted;
      }
      rows.push(row);
    }
  } finally {
    guardian.close();
  }
  const exitCode = exitCodeOf(rows);
  if (typeof html === "string") {
    copyReports(rows, html, io);
  }
  const shown = rows.flatMap((row) => place.shows(row));
  if (json === true) {
    io.out(rolloutJson(rows, exitCode, shown));
    return exitCode;
  }
  const details = rows.map((row) => renderDetails(row, style, rows.length === 1)).join("\n\n");
  const platform = shown.length === 0 ? "" : `${shown.join("\n")}\n\n`;
  io.out(
    `\n${renderHead(rows)}\n\n${renderTable(rows, style)}\n\n${details}\n\n${platform}${renderOutcome(rows, style)}\n`,
  );
  return exitCode;
}

export const rollout: Command = {
  summary: "restart every copy of a service under load behind a router, and say what was lost",
  run,
};
