/** `lastcall report`: a ledger in, any form of its report out. */

import { isatty } from "node:tty";
import { LabError } from "../errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { renderPage } from "../render/html/page.ts";
import { reportJson } from "../render/run/json.ts";
import { reportJunit } from "../render/run/junit.ts";
import { reportMarkdown } from "../render/run/markdown.ts";
import { reportText } from "../render/run/plain.ts";
import { styleFor } from "../render/style.ts";
import { openLedger } from "../report/open-ledger.ts";
import { pageScript } from "../report/page-script.ts";
import { reportOf, type RunReport } from "../report/run-report.ts";
import { writeReport } from "../report/write-report.ts";
import type { Verdict } from "../verdict/verdict.ts";
import type { Command, Io } from "./command.ts";
import { readFlags } from "./flags.ts";

const HELP = `Usage: lastcall report LEDGER [options]

Judges a run again from its ledger, and reports it. LEDGER is a ledger.ndjson or the folder of a run.
Without an option the verdict is printed as text.

  --html FILE       one page with every picture; needs no network, and no script but for zooming
  --json            on standard output; docs/report.schema.json describes it
  --junit           on standard output, one case for each restart
  --markdown        on standard output, for a pull request
  --compare LEDGER  an earlier run: before and after, in every form but JUnit
  --no-color        as NO_COLOR
  --help

A ledger that was cut off is reported as far as it goes, and says so.
Exit codes: 0 nothing was lost, 1 something was, 2 wrong usage, 3 the ledger cannot be read or a file
not be written, 4 the run proves nothing, 130 interrupted.
`;

const FLAGS = {
  html: "string",
  json: "boolean",
  junit: "boolean",
  markdown: "boolean",
  compare: "string",
  "no-color": "boolean",
  help: "boolean",
} as const;

const EXIT_OF: Readonly<Record<Verdict["outcome"], ExitCode>> = {
  pass: EXIT.pass,
  fail: EXIT.failed,
  invalid: EXIT.invalidRun,
};

async function read(given: string, io: Io): Promise<RunReport | null> {
  const opened = await openLedger(given, io.cwd, io.interrupted);
  if (opened === null) {
    return null;
  }
  const { judged, warnings, file } = opened;
  for (const warning of warnings) {
    io.err(`${file}: ${warning}\n`);
  }
  return reportOf(judged, warnings);
}

async function run(args: readonly string[], io: Io): Promise<ExitCode> {
  const { values, names } = readFlags("report", args, FLAGS, 1);
  if (values["help"] === true) {
    io.out(HELP);
    return EXIT.pass;
  }
  const [given] = names;
  if (given === undefined) {
    throw new LabError(
      "LAB_USAGE",
      "lastcall report needs a ledger.",
      "Give a ledger.ndjson or the folder of a run.",
    );
  }
  const forms = ["json", "junit", "markdown"].filter((form) => values[form] === true);
  if (forms.length > 1) {
    throw new LabError(
      "LAB_USAGE",
      `--${forms.join(" and --")} exclude each other: both are for standard output.`,
      "Run it twice.",
    );
  }
  const compare = values["compare"];
  const before = typeof compare === "string" ? await read(compare, io) : null;
  const report = await read(given, io);
  if (report === null || io.interrupted.aborted) {
    io.err("Interrupted: nothing was written.\n");
    return EXIT.interrupted;
  }
  const html = values["html"];
  if (typeof html === "string") {
    writeReport(html, io.cwd, renderPage({ report, before, script: pageScript() }));
    io.err(`The report is ${html}\n`);
  }
  const style = styleFor(io.tty && isatty(1), values["no-color"] === true, io.env);
  const form = forms[0] ?? (html === undefined ? "text" : "none");
  if (form === "json") {
    io.out(reportJson(report, before));
  } else if (form === "junit") {
    io.out(reportJunit(report));
  } else if (form === "markdown") {
    io.out(reportMarkdown(report, before));
  } else if (form === "text") {
    io.out(reportText(report, style, before));
  }
  return EXIT_OF[report.verdict.outcome];
}

export const reportCommand: Command = {
  summary: "make any report of a run again from its ledger: a page, JSON, JUnit, Markdown",
  run,
};
