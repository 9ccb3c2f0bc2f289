/** The sum: what a workload spends between the stop decision and its exit, item by item, against the time until SIGKILL. */

import type { Member, Timer, Workload } from "./model/workload.ts";
import { type Origin, originText, seconds, type Time } from "./time.ts";

export interface BudgetItem {
  readonly name:
    | "preStop hook"
    | "drain delay"
    | "graceful timeout"
    | "teardown timeout"
    | "the service's own grace period";
  readonly ms: number;
  readonly origin: Origin;
  /** It may take longer. */
  readonly atLeast: boolean;
}

export interface BudgetSum {
  readonly workload: Workload;
  readonly member: Member;
  readonly timer: Timer;
  readonly items: readonly BudgetItem[];
  readonly sumMs: number;
  /** Nothing is unknown: the sum is the most that is spent. */
  readonly complete: boolean;
  readonly slackMs: number;
  /** What should be left: 2 s or a tenth, whichever is more. */
  readonly marginMs: number;
}

export function marginOf(timerMs: number): number {
  return Number.isFinite(timerMs) ? Math.max(2000, timerMs / 10) : 2000;
}

/** What the service spends after SIGTERM, as far as it is known; undefined: nothing is. */
export function appMs(member: Member): number | undefined {
  const { drainDelay, graceful, teardown, whole } = member.parts;
  const known = [drainDelay, graceful, teardown, whole].filter((time) => time !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, { ms }) => sum + ms, 0);
}

export function sumOf(workload: Workload, member: Member): BudgetSum | undefined {
  const { timer } = workload;
  if (timer === undefined) {
    return undefined;
  }
  const items: BudgetItem[] = [];
  const hook = member.container?.preStop;
  if (hook !== undefined && timer.ms > 0) {
    items.push({
      name: "preStop hook",
      ms: hook.ms,
      origin: { kind: "file", at: hook.at },
      atLeast: !hook.complete,
    });
  }
  const { drainDelay, graceful, teardown, whole } = member.parts;
  const add = (name: BudgetItem["name"], time: Time | undefined): void => {
    if (time !== undefined) {
      items.push({ name, ms: time.ms, origin: time.origin, atLeast: false });
    }
  };
  add("drain delay", drainDelay);
  add("graceful timeout", graceful);
  add("teardown timeout", teardown);
  add("the service's own grace period", whole);
  const sumMs = items.reduce((sum, { ms }) => sum + ms, 0);
  const allParts =
    whole !== undefined || (drainDelay !== undefined && graceful !== undefined && teardown !== undefined);
  return {
    workload,
    member,
    timer,
    items,
    sumMs,
    complete: allParts && items.every(({ atLeast }) => !atLeast),
    slackMs: timer.ms - sumMs,
    marginMs: marginOf(timer.ms),
  };
}

/** The member whose sum is largest decides for the workload: containers stop at the same time. */
export function worstSum(workload: Workload): BudgetSum | undefined {
  let worst: BudgetSum | undefined;
  for (const member of workload.members) {
    const sum = sumOf(workload, member);
    if (sum !== undefined && (worst === undefined || sum.sumMs > worst.sumMs)) {
      worst = sum;
    }
  }
  return worst;
}

/** The sum as lines: one per item with its origin, then the total beside the timer. */
export function sumLines(sum: BudgetSum): readonly string[] {
  const rows = sum.items.map(
    ({ name, ms, origin, atLeast }) =>
      [`${atLeast ? "at least " : ""}${seconds(ms)}`, name, originText(origin)] as const,
  );
  const total = `${sum.complete ? "" : "at least "}${seconds(sum.sumMs)}`;
  const all = [
    ...rows,
    [total, "together", ""] as const,
    [seconds(sum.timer.ms), sum.timer.name, originText(sum.timer.origin)] as const,
  ];
  const width = Math.max(...all.map(([time]) => time.length));
  const names = Math.max(...all.map(([, name]) => name.length));
  return all.map(([time, name, from]) => `${time.padStart(width)}  ${name.padEnd(names)}  ${from}`.trimEnd());
}
