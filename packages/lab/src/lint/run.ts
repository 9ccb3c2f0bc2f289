/** Lint, start to finish: files, model, rules, severities, suppressions. No output and no exit code here. */

import { LabError } from "../errors.ts";
import type { Draft, Finding, Rule } from "./finding.ts";
import { buildModel } from "./model/build.ts";
import { join } from "./model/compose.ts";
import type { Model } from "./model/model.ts";
import { type BudgetSetting, readSettings, type Settings } from "./model/settings.ts";
import { readYaml } from "./parse/yaml.ts";
import { RULES } from "./rules/all.ts";
import { type Source, lineOf, position, where } from "./source.ts";
import { complaint, suppressionsOf } from "./suppress.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

export interface LintRequest {
  readonly cwd: string;
  readonly paths: readonly string[];
  /** A configuration file; without one `lastcall.config.json` is looked for here and in the folder that is linted. */
  readonly config?: string;
  /** The service's own budget from flags, for every workload. */
  readonly budget?: BudgetSetting;
  /** Versions from flags, as the configuration has them. */
  readonly versions?: Pick<Settings, "kubernetes" | "nginx" | "node">;
}

export interface LintResult {
  readonly findings: readonly Finding[];
  readonly model: Model;
  readonly files: number;
  readonly suppressed: number;
}

const IDS: ReadonlySet<string> = new Set(RULES.map(({ id }) => id));

export function lint(request: LintRequest): LintResult {
  const { workspace, settings } = load(request);
  return judge(workspace, settings);
}

/** The same without a file system: what is in memory is all there is. */
export function judge(workspace: Workspace, settings: Settings): LintResult {
  const model = buildModel(workspace, settings);
  const found = RULES.flatMap((rule) => [...findingsOf(rule, model)]);
  const sources = new Set<Source>([
    ...workspace.files.map(({ source }) => source),
    ...found.map(({ at }) => at.source),
  ]);
  const { kept, own, suppressed } = suppress(found, [...sources], settings);
  return { findings: sorted(unique([...kept, ...own])), model, files: workspace.files.length, suppressed };
}

function load(request: LintRequest): { workspace: Workspace; settings: Settings } {
  const settings = settingsFor(request);
  return { workspace: openWorkspace(request.cwd, request.paths, settings.ignore), settings };
}

function settingsFor({ cwd, paths, config, budget, versions }: LintRequest): Settings {
  const { lookup } = openWorkspace(cwd, [], []);
  const candidates =
    config === undefined
      ? ["lastcall.config.json", ...paths.slice(0, 1).map((path) => join("", `${path}/lastcall.config.json`))]
      : [config];
  const source = candidates.map((path) => lookup(path)).find((one) => one !== undefined);
  if (source === undefined && config !== undefined) {
    throw new LabError(
      "LAB_LINT_CONFIG",
      `The configuration ${config} cannot be read.`,
      "Give --config the path of a JSON file.",
    );
  }
  const read = source === undefined ? undefined : readYaml(source);
  const problem = read?.problems[0];
  if (source !== undefined && problem !== undefined) {
    const { line, column } = position(source, problem.at.start);
    throw new LabError(
      "LAB_LINT_CONFIG",
      `${source.path}:${line}:${column}: ${problem.message}`,
      "Mend the configuration; docs/lint.md describes it.",
    );
  }
  const folder = (source?.path ?? "").split("/").slice(0, -1).join("/");
  const settings = readSettings(read?.documents[0], IDS);
  return {
    ...settings,
    kubernetes: versions?.kubernetes ?? settings.kubernetes,
    nginx: versions?.nginx ?? settings.nginx,
    node: versions?.node ?? settings.node,
    budgets: budget === undefined ? settings.budgets : new Map([...settings.budgets, ["*", budget]]),
    images: new Map([...settings.images].map(([name, path]) => [name, join(folder, path)])),
    routers: new Map([...settings.routers].map(([path, names]) => [join(folder, path), names])),
    ignore: settings.ignore.map((glob) => join(folder, glob)),
  };
}

function* findingsOf(rule: Rule, model: Model): Iterable<Finding> {
  const level = model.settings.rules.get(rule.id);
  if (level === "off") {
    return;
  }
  for (const draft of rule.check(model)) {
    yield { ...draft, rule: rule.id, why: rule.why, severity: level ?? draft.severity ?? rule.severity };
  }
}

interface Suppressed {
  readonly kept: readonly Finding[];
  /** Findings about the suppressions themselves. */
  readonly own: readonly Finding[];
  readonly suppressed: number;
}

function suppress(found: readonly Finding[], sources: readonly Source[], settings: Settings): Suppressed {
  const own: Finding[] = [];
  let kept = found;
  const about = (id: string, draft: Draft): void => {
    const rule = RULES.find((one) => one.id === id);
    const level = settings.rules.get(id);
    if (rule !== undefined && level !== "off") {
      own.push({ ...draft, rule: id, why: rule.why, severity: level ?? rule.severity });
    }
  };
  for (const source of sources) {
    for (const one of suppressionsOf(source)) {
      const wrong = complaint(one, IDS);
      if (wrong !== undefined) {
        about("lint/suppression-reason", wrong);
        continue;
      }
      const covers = (finding: Finding): boolean =>
        finding.at.source.path === source.path &&
        one.rules.includes(finding.rule) &&
        (one.line === undefined || lineOf(finding.at) === one.line);
      if (!kept.some(covers)) {
        about("lint/unused-suppression", {
          at: one.at,
          message: `Nothing is found here for ${one.rules.join(", ")}. Remove it.`,
        });
      }
      kept = kept.filter((finding) => !covers(finding));
    }
  }
  return { kept, own, suppressed: found.length - kept.length };
}

/** One place, one rule, one finding: a script that two images use is one script. */
function unique(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Map<string, Finding>();
  for (const finding of findings) {
    const key = `${finding.rule} ${where(finding.at)} ${finding.message}`;
    if (!seen.has(key)) {
      seen.set(key, finding);
    }
  }
  return [...seen.values()];
}

function sorted(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted(
    (left, right) =>
      compare(left.at.source.path, right.at.source.path) ||
      left.at.start - right.at.start ||
      compare(left.rule, right.rule),
  );
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
