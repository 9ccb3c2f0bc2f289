/** Flags that `lint` and `budget` share: the service's own budget and the target versions. */

import { LabError } from "../errors.ts";
import type { LintRequest } from "./run.ts";
import { goDuration, type Time } from "./time.ts";

export const BUDGET_OPTIONS: Readonly<
  Record<
    "drain-delay" | "graceful-timeout" | "teardown-timeout" | "kubernetes" | "nginx",
    { readonly type: "string" }
  >
> = {
  "drain-delay": { type: "string" },
  "graceful-timeout": { type: "string" },
  "teardown-timeout": { type: "string" },
  kubernetes: { type: "string" },
  nginx: { type: "string" },
};

type Values = { readonly [Name in keyof typeof BUDGET_OPTIONS]?: string | undefined };

export function durationFlag(name: string, value: string): number {
  const ms = goDuration(value);
  if (ms === undefined) {
    throw new LabError("LAB_USAGE", `--${name} ${value} is not a duration.`, "Write 5s, 250ms or 1m30s.");
  }
  return ms;
}

export function budgetFlags(values: Values): Pick<LintRequest, "budget"> {
  const time = (name: keyof Values): Time | undefined => {
    const value = values[name];
    return value === undefined
      ? undefined
      : { ms: durationFlag(name, value), origin: { kind: "flag", name: `--${name}` } };
  };
  const budget = {
    drainDelay: time("drain-delay"),
    gracefulTimeout: time("graceful-timeout"),
    teardownTimeout: time("teardown-timeout"),
    readiness: undefined,
    answers503: undefined,
    drainsInPlace: undefined,
  };
  return (budget.drainDelay ?? budget.gracefulTimeout ?? budget.teardownTimeout) === undefined
    ? {}
    : { budget };
}

export function versionFlags(values: Values): { versions: NonNullable<LintRequest["versions"]> } {
  const version = (name: "kubernetes" | "nginx"): readonly number[] | undefined => {
    const value = values[name];
    if (value === undefined) {
      return undefined;
    }
    const match = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(value);
    if (match === null) {
      throw new LabError("LAB_USAGE", `--${name} ${value} is not a version.`, "Write it as 1.31.");
    }
    return match.slice(1).map((part) => Number(part ?? 0));
  };
  return { versions: { kubernetes: version("kubernetes"), nginx: version("nginx"), node: undefined } };
}
