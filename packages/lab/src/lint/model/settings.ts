/** `lastcall.config.json`, key `lint`, and what flags add: severities, budgets, versions, links. */

import { didYouMean } from "../../nearest.ts";
import { SECTIONS } from "../../scenario/config.ts";
import type { Severity } from "../finding.ts";
import { type Tree, entries, get, items, text } from "../parse/tree.ts";
import { type Place, slice } from "../source.ts";
import { goDuration, type Time } from "../time.ts";

export interface BudgetSetting {
  readonly drainDelay: Time | undefined;
  readonly gracefulTimeout: Time | undefined;
  readonly teardownTimeout: Time | undefined;
  /** What the service does while it drains, where somebody says so. */
  readonly readiness: "fail" | "keep" | undefined;
  readonly answers503: boolean | undefined;
  /** The service drains without being deleted (its own drain call), so its liveness probe goes on. */
  readonly drainsInPlace: boolean | undefined;
}

export interface Settings {
  readonly rules: ReadonlyMap<string, Severity | "off">;
  /** By workload name, container name, or `*`. */
  readonly budgets: ReadonlyMap<string, BudgetSetting>;
  /** Image name (no tag) to build context. */
  readonly images: ReadonlyMap<string, string>;
  /** Router configuration file to the workloads behind it. */
  readonly routers: ReadonlyMap<string, readonly string[]>;
  readonly ignore: readonly string[];
  /** Versions as `[major, minor, patch]`; undefined: unknown, and rules that need one stay silent. */
  readonly kubernetes: readonly number[] | undefined;
  readonly nginx: readonly number[] | undefined;
  readonly node: readonly number[] | undefined;
  /** Below this, preStop and drain delay together are too short for a load balancer that targets pods. */
  readonly preDrainMs: number;
  /** A cap that the platform puts on every grace period (spot notice, kubelet node shutdown). */
  readonly platformCap: Time | undefined;
  readonly problems: readonly { readonly message: string; readonly at: Place }[];
}

export const DEFAULT_SETTINGS: Settings = {
  rules: new Map(),
  budgets: new Map(),
  images: new Map(),
  routers: new Map(),
  ignore: [],
  kubernetes: undefined,
  nginx: undefined,
  node: undefined,
  preDrainMs: 10_000,
  platformCap: undefined,
  problems: [],
};

const KNOWN = new Set(
  "rules budgets images routers ignore kubernetes nginx node preDrain platformCap".split(" "),
);
const LEVELS = new Set(["off", "info", "warning", "error"]);

/** What would make lint read nothing of the file, in silence. */
function* misplaced(tree: Tree | undefined): Iterable<{ message: string; at: Place }> {
  if (tree !== undefined && tree.kind !== "map") {
    yield { message: 'The file holds no object. Write {"lint": {...}}.', at: tree.at };
  }
  for (const [name, { key, value }] of entries(tree)) {
    if (!SECTIONS.includes(name)) {
      const message = `The file has an unknown key '${name}'. ${didYouMean(name, SECTIONS)}It may have ${SECTIONS.join(", ")}.`;
      yield { message, at: key };
    } else if (name === "lint" && value.kind !== "map") {
      yield { message: "'lint' is no object: {...}.", at: value.at };
    }
  }
}

export function readSettings(tree: Tree | undefined, ruleIds: ReadonlySet<string>): Settings {
  const lint = get(tree, "lint");
  const problems = [...misplaced(tree)];
  if (lint === undefined) {
    return { ...DEFAULT_SETTINGS, problems };
  }
  for (const [key, { key: at }] of entries(lint)) {
    if (!KNOWN.has(key)) {
      problems.push({ message: `lint has no setting '${key}'. It has ${[...KNOWN].join(", ")}.`, at });
    }
  }
  const rules = new Map<string, Severity | "off">();
  for (const [id, { key, value }] of entries(get(lint, "rules"))) {
    const level = text(value) ?? "";
    if (!ruleIds.has(id)) {
      problems.push({ message: `There is no rule '${id}'.`, at: key });
    } else if (!LEVELS.has(level)) {
      problems.push({ message: `'${level}' is not a severity: off, info, warning or error.`, at: value.at });
    } else {
      rules.set(id, level as Severity | "off");
    }
  }
  const time = (node: Tree | undefined): Time | undefined => {
    const value = text(node);
    if (node === undefined || value === undefined) {
      return undefined;
    }
    const ms = goDuration(value);
    if (ms === undefined) {
      problems.push({ message: `'${value}' is not a duration: write 5s, 250ms or 1m.`, at: node.at });
      return undefined;
    }
    return { ms, origin: { kind: "file", at: node.at } };
  };
  const budgets = new Map<string, BudgetSetting>();
  for (const [name, { value }] of entries(get(lint, "budgets"))) {
    const readiness = text(get(value, "readiness"));
    const truth = (key: string): boolean | undefined => {
      const said = text(get(value, key));
      return said === undefined ? undefined : said === "true";
    };
    budgets.set(name, {
      drainDelay: time(get(value, "drainDelay")),
      gracefulTimeout: time(get(value, "gracefulTimeout")),
      teardownTimeout: time(get(value, "teardownTimeout")),
      readiness: readiness === "fail" || readiness === "keep" ? readiness : undefined,
      answers503: truth("answers503"),
      drainsInPlace: truth("drainsInPlace"),
    });
  }
  return {
    rules,
    budgets,
    images: new Map(entries(get(lint, "images")).map(([key, { value }]) => [key, text(value) ?? ""])),
    routers: new Map(
      entries(get(lint, "routers")).map(([key, { value }]) => [
        key,
        items(value).flatMap((item) => text(item) ?? []),
      ]),
    ),
    ignore: items(get(lint, "ignore")).flatMap((item) => text(item) ?? []),
    kubernetes: version(get(lint, "kubernetes")),
    nginx: version(get(lint, "nginx")),
    node: version(get(lint, "node")),
    preDrainMs: time(get(lint, "preDrain"))?.ms ?? DEFAULT_SETTINGS.preDrainMs,
    platformCap: time(get(lint, "platformCap")),
    problems,
  };
}

function version(tree: Tree | undefined): readonly number[] | undefined {
  // As written: the number 1.30 must not become 1.3.
  const value = tree === undefined ? "" : slice(tree.at).replaceAll(/["']/g, "");
  const match = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(value);
  return match === null ? undefined : [Number(match[1]), Number(match[2] ?? 0), Number(match[3] ?? 0)];
}

/** Whether a known version is below another. */
export function below(known: readonly number[], ...limit: readonly number[]): boolean {
  for (const [index, wanted] of limit.entries()) {
    const have = known[index] ?? 0;
    if (have !== wanted) {
      return have < wanted;
    }
  }
  return false;
}
