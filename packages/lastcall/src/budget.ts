/** One budget: the grace period and the parts that must fit into it, each with where it comes from. Pure. */

import { formatDuration } from "./duration.ts";
import { LastcallError } from "./errors.ts";
import type { LifecycleOptions } from "./options.ts";
import type { Platform } from "./platform.ts";

/** All in milliseconds. `drainDelay + gracefulTimeout + teardownTimeout + settle + reserve` fit into the grace period. */
export interface Budget {
  readonly gracePeriodMs: number;
  readonly drainDelayMs: number;
  readonly gracefulTimeoutMs: number;
  readonly teardownTimeoutMs: number;
  /** What is kept back for writing the record and for the exit itself. */
  readonly reserveMs: number;
  readonly settleMs: number;
  readonly taskTimeoutMs: number;
  readonly lingerMs: number;
  readonly abortWindowMs: number;
}

/** Where each part comes from, for the start-up line: `set`, or how it was derived. */
export type BudgetSources = Readonly<
  Record<"gracePeriodMs" | "drainDelayMs" | "gracefulTimeoutMs" | "teardownTimeoutMs", string>
>;

const PARTS = ["drainDelayMs", "gracefulTimeoutMs", "teardownTimeoutMs"] as const;
type Part = (typeof PARTS)[number];

/** What each part gets of the grace period where it is not set. Without a delay its share is for the work. */
function sharesOf({ drainDelayMs }: LifecycleOptions, { router }: Platform): Readonly<Record<Part, number>> {
  const delay = router ? 0.25 : 0;
  return {
    drainDelayMs: delay,
    gracefulTimeoutMs: (drainDelayMs ?? delay) === 0 ? 0.75 : 0.5,
    teardownTimeoutMs: 0.25,
  };
}

/**
 * Derives what was not set and checks the sum. Parts that are set and do not fit are refused (LASTCALL_BUDGET); derived
 * parts shrink, all in the same proportion, until they fit.
 */
export function planBudget(
  options: LifecycleOptions,
  platform: Platform,
): { readonly budget: Budget; readonly sources: BudgetSources } {
  const grace = options.gracePeriodMs ?? platform.gracePeriodMs;
  const settle = options.settleMs ?? 0;
  const reserve = Math.min(500, grace * 0.05);
  const shares = sharesOf(options, platform);
  const wanted: Readonly<Record<Part, number>> = {
    drainDelayMs: grace * shares.drainDelayMs,
    gracefulTimeoutMs: grace * shares.gracefulTimeoutMs,
    teardownTimeoutMs: grace * shares.teardownTimeoutMs - reserve,
  };
  const set = PARTS.filter((part) => options[part] !== undefined);
  const setSum = set.reduce((sum, part) => sum + (options[part] ?? 0), settle);
  if (setSum >= grace) {
    refuse(options, grace, platform, setSum);
  }
  const derived = PARTS.filter((part) => options[part] === undefined);
  const wantedSum = derived.reduce((sum, part) => sum + wanted[part], 0);
  const left = Math.max(0, grace - reserve - setSum);
  const shrink = wantedSum > left ? left / wantedSum : 1;
  const part = (name: Part): number => options[name] ?? Math.floor(wanted[name] * shrink);

  const gracefulTimeoutMs = part("gracefulTimeoutMs");
  const budget: Budget = {
    gracePeriodMs: grace,
    drainDelayMs: part("drainDelayMs"),
    gracefulTimeoutMs,
    teardownTimeoutMs: part("teardownTimeoutMs"),
    reserveMs: Math.floor(Math.min(reserve, grace - setSum)),
    settleMs: settle,
    taskTimeoutMs: options.taskTimeoutMs ?? gracefulTimeoutMs,
    lingerMs: options.lingerMs ?? Math.min(250, gracefulTimeoutMs),
    abortWindowMs: options.abortWindowMs ?? Math.min(250, gracefulTimeoutMs / 2),
  };
  for (const name of ["taskTimeoutMs", "lingerMs", "abortWindowMs"] as const) {
    if (budget[name] > gracefulTimeoutMs) {
      throw new LastcallError(
        "LASTCALL_BUDGET",
        `${name} (${formatDuration(budget[name])}) is longer than gracefulTimeoutMs (${formatDuration(gracefulTimeoutMs)}), inside which it runs.`,
      );
    }
  }
  const origin = (name: Part, less = " of the grace period"): string =>
    options[name] === undefined
      ? `${Math.round(shares[name] * 100)} %${less}${shrink < 1 ? ", shrunk to fit" : ""}`
      : "set";
  const hasNoRouter = options.drainDelayMs === undefined && !platform.router;
  return {
    budget,
    sources: {
      gracePeriodMs: originOfGrace(options, platform),
      drainDelayMs: hasNoRouter ? "no router known" : origin("drainDelayMs"),
      gracefulTimeoutMs: origin("gracefulTimeoutMs"),
      teardownTimeoutMs: origin("teardownTimeoutMs", " less the reserve"),
    },
  };
}

/** Nobody waits for a copy that has been replaced; what it still serves of pooled connections is not lost. */
const REPLACED_LINGER_MS = 2000;

/** The linger window of this stop: longer where another copy serves already and no length was set. */
export function lingerOf(budget: Budget, options: LifecycleOptions, isReplaced: boolean): number {
  return isReplaced && options.lingerMs === undefined
    ? Math.max(budget.lingerMs, Math.min(REPLACED_LINGER_MS, budget.gracefulTimeoutMs / 4))
    : budget.lingerMs;
}

function originOfGrace(options: LifecycleOptions, platform: Platform): string {
  return options.gracePeriodMs === undefined ? (platform.granted ?? `default of ${platform.name}`) : "set";
}

function refuse(options: LifecycleOptions, grace: number, platform: Platform, sum: number): never {
  const terms = [...PARTS, "settleMs" as const]
    .filter((part) => options[part] !== undefined)
    .map((part) => `${part} ${formatDuration(options[part] ?? 0)}`);
  const parts = terms.length === 1 ? `${terms[0]}` : `${terms.join(" + ")} = ${formatDuration(sum)}`;
  throw new LastcallError(
    "LASTCALL_BUDGET",
    `${parts}, which must be less than the grace period of ${formatDuration(grace)} (${originOfGrace(options, platform)}).`,
  );
}

/** The start-up line: the budget, and where each part comes from. */
export function describeBudget(budget: Budget, sources: BudgetSources): string {
  const settle = budget.settleMs > 0 ? ` + settle ${formatDuration(budget.settleMs)} (set)` : "";
  return (
    `grace period ${formatDuration(budget.gracePeriodMs)} (${sources.gracePeriodMs})` +
    ` >= drain delay ${formatDuration(budget.drainDelayMs)} (${sources.drainDelayMs})` +
    ` + graceful timeout ${formatDuration(budget.gracefulTimeoutMs)} (${sources.gracefulTimeoutMs})` +
    ` + teardown ${formatDuration(budget.teardownTimeoutMs)} (${sources.teardownTimeoutMs})` +
    `${settle} + reserve ${formatDuration(budget.reserveMs)}`
  );
}
