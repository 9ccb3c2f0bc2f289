/** What is said when a lifecycle is made: the budget with its sources, and what will go wrong at the stop. Pure. */

import { describeBudget, type Budget, type BudgetSources } from "./budget.ts";
import { LastcallError } from "./errors.ts";
import { unknownVariables, type LifecycleOptions } from "./options.ts";

export interface StartUp {
  readonly options: LifecycleOptions;
  readonly budget: Budget;
  readonly sources: BudgetSources;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Why the stop signal will not reach this process, if so. */
  readonly wrapper: string | null;
}

export function startUpLines({ options, budget, sources, env, wrapper }: StartUp): readonly string[] {
  const lines = [`${describeBudget(budget, sources)}; leave order ${options.leaveOrder ?? "auto"}`];
  if (budget.drainDelayMs === 0 && options.drainDelayMs === undefined) {
    lines.push(
      "no router known, so no drain delay: behind one, set LASTCALL_DRAIN_DELAY to more than its lag",
    );
  }
  if (wrapper !== null) {
    lines.push(`warning: ${new LastcallError("LASTCALL_WRAPPER", wrapper).message}`);
  }
  for (const name of unknownVariables(env)) {
    lines.push(`warning: nothing reads the environment variable ${name}`);
  }
  return lines;
}
