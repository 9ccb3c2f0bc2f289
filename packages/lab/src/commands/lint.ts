/** `lastcall lint`: parses its arguments, lints, and writes the findings in as many formats as were asked for. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { isatty } from "node:tty";
import { parseArgs } from "node:util";
import { LabError } from "../errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { type Baseline, beyond, makeBaseline } from "../lint/baseline.ts";
import { explain, listRules } from "../lint/explain.ts";
import type { Finding, Severity } from "../lint/finding.ts";
import { applyFixes, difference } from "../lint/fix.ts";
import { budgetFlags, BUDGET_OPTIONS, versionFlags } from "../lint/flags.ts";
import { renderGithub, renderJson, renderJunit } from "../lint/render/machine.ts";
import { renderSarif } from "../lint/render/sarif.ts";
import { failing, renderText } from "../lint/render/text.ts";
import { RULES } from "../lint/rules/all.ts";
import { lint, type LintResult } from "../lint/run.ts";
import { STDIN } from "../lint/workspace.ts";
import type { Command, Io } from "./command.ts";
import { misuse } from "./flags.ts";
import { save } from "./save.ts";

const HELP = `Usage: lastcall lint [PATH...] [options]

Reads Kubernetes, Compose, Dockerfile, systemd, nginx, HAProxy, package.json, pm2, ECS and Nomad files together and finds
what makes a stop lose work: sums that do not fit, signals that never arrive, routers that learn too late.
Without PATH it reads the working directory; - is standard input: helm template . | lastcall lint -

  --format FORMAT[=FILE]   text (default), json, sarif, junit, github; may be repeated, each to its own FILE
  --fail-on SEVERITY       error, warning (default) or info: what makes the exit code 1
  --fix, --fix-dry-run     apply the fixes that are certain, or show them
  --config FILE            instead of lastcall.config.json
  --baseline FILE          report only what the baseline does not hold
  --write-baseline FILE    accept what is found now
  --drain-delay 5s  --graceful-timeout 15s  --teardown-timeout 5s
                           the service's own budget, for every workload
  --kubernetes 1.31  --nginx 1.28
                           target versions; rules that need one are silent without it
  --explain RULE           the rule's page
  --list-rules             every rule with its severity

Exit code: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage, 3 could not run.
`;

const FORMATS = ["text", "json", "sarif", "junit", "github"] as const;
type Format = (typeof FORMATS)[number];

export const lintCommand: Command = {
  summary: "find what makes a stop lose work, in every configuration file together",
  endsAtOnce: true,
  run: async (args, io) => run(args, io),
};

function parse(args: readonly string[]): ReturnType<typeof parseRaw> {
  try {
    return parseRaw(args);
  } catch (error) {
    throw misuse("lint", error, Object.keys(OPTIONS));
  }
}

const OPTIONS = {
  ...BUDGET_OPTIONS,
  format: { type: "string", multiple: true },
  "fail-on": { type: "string" },
  fix: { type: "boolean" },
  "fix-dry-run": { type: "boolean" },
  config: { type: "string" },
  baseline: { type: "string" },
  "write-baseline": { type: "string" },
  explain: { type: "string" },
  "list-rules": { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

function parseRaw(
  args: readonly string[],
): ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>> {
  return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
}

function run(args: readonly string[], io: Io): Promise<ExitCode> {
  const { values, positionals } = parse(args);
  if (values.help === true) {
    io.out(HELP);
    return Promise.resolve(EXIT.pass);
  }
  if (values.explain !== undefined || values["list-rules"] === true) {
    io.out(values.explain === undefined ? listRules() : explain(values.explain));
    return Promise.resolve(EXIT.pass);
  }
  const outputs = (values.format ?? ["text"]).map(toOutput);
  const limit = toSeverity(values["fail-on"] ?? "warning");
  const request = {
    cwd: io.cwd,
    paths: positionals.length === 0 ? ["."] : positionals,
    ...(values.config === undefined ? {} : { config: values.config }),
    ...budgetFlags(values),
    ...versionFlags(values),
  };
  if (values.fix === true && positionals.includes(STDIN)) {
    throw new LabError("LAB_USAGE", "--fix cannot write to standard input.", "Use --fix-dry-run.");
  }
  let result = lint(request);
  if (values["write-baseline"] !== undefined) {
    save(io, values["write-baseline"], `${JSON.stringify(makeBaseline(result.findings), null, 2)}\n`);
    io.err(`${result.findings.length} findings are now the baseline in ${values["write-baseline"]}.\n`);
    return Promise.resolve(EXIT.pass);
  }
  if (values.fix === true || values["fix-dry-run"] === true) {
    const fixed = applyFixes(result.findings);
    for (const file of fixed) {
      if (values["fix-dry-run"] === true) {
        io.out(difference(file));
      } else {
        save(io, file.source.path, file.text);
      }
    }
    const count = fixed.reduce((sum, { applied }) => sum + applied.length, 0);
    io.err(
      `${count} ${count === 1 ? "fix" : "fixes"} in ${fixed.length} ${fixed.length === 1 ? "file" : "files"}${values["fix-dry-run"] === true ? " would be made" : ""}.\n`,
    );
    if (values.fix === true && count > 0) {
      result = lint(request);
    }
  }
  const findings =
    values.baseline === undefined
      ? result.findings
      : beyond(result.findings, readBaseline(io, values.baseline));
  for (const { format, file } of outputs) {
    const text = render(format, findings, result, io, file === undefined);
    if (file === undefined) {
      io.out(text);
    } else {
      save(io, file, text);
    }
  }
  return Promise.resolve(failing(findings, limit) ? EXIT.failed : EXIT.pass);
}

function render(
  format: Format,
  findings: readonly Finding[],
  result: LintResult,
  io: Io,
  screen: boolean,
): string {
  switch (format) {
    case "text":
      return renderText(findings, {
        colour: screen && io.tty && isatty(1) && io.env["NO_COLOR"] === undefined,
        files: result.files,
        suppressed: result.suppressed,
      });
    case "json":
      return renderJson(findings, result.files);
    case "sarif":
      return renderSarif(findings, RULES, ownVersion());
    case "junit":
      return renderJunit(findings);
    case "github":
      return renderGithub(findings);
  }
}

function ownVersion(): string {
  const file = new URL("../../../package.json", import.meta.url);
  return String((JSON.parse(readFileSync(file, "utf8")) as { version: unknown }).version);
}

function toOutput(text: string): { readonly format: Format; readonly file: string | undefined } {
  const at = text.indexOf("=");
  const name = at === -1 ? text : text.slice(0, at);
  const format = FORMATS.find((one) => one === name);
  if (format === undefined) {
    throw new LabError("LAB_USAGE", `There is no format '${name}'.`, `Formats are ${FORMATS.join(", ")}.`);
  }
  return { format, file: at === -1 ? undefined : text.slice(at + 1) };
}

function toSeverity(text: string): Severity {
  if (text !== "error" && text !== "warning" && text !== "info") {
    throw new LabError("LAB_USAGE", `'${text}' is not a severity.`, "Use error, warning or info.");
  }
  return text;
}

function readBaseline(io: Io, file: string): Baseline {
  try {
    const read = JSON.parse(readFileSync(path.resolve(io.cwd, file), "utf8")) as Baseline;
    if (read.schema === "lastcall.baseline/1" && Array.isArray(read.findings)) {
      return read;
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LabError(
      "LAB_LINT_BASELINE",
      `The baseline ${file} cannot be read: ${reason}`,
      "Write it with --write-baseline.",
      { cause: error },
    );
  }
  throw new LabError("LAB_LINT_BASELINE", `${file} is not a baseline.`, "Write it with --write-baseline.");
}
