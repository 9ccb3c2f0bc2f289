/** What the drain is waiting for, in one line for people. Pure. */

import { formatDuration } from "./duration.ts";

export interface Waiting {
  readonly phase: "draining" | "teardown";
  readonly remainingMs: number;
  readonly requests: readonly { readonly name: string; readonly ageMs: number }[];
  readonly tasks: readonly { readonly name: string; readonly ageMs: number }[];
  readonly connections: number;
  readonly hook: string | null;
  /** Cluster workers that still run. */
  readonly workers?: readonly string[];
}

/** How many are named; the rest are counted. The oldest come first. */
const NAMED = 3;

function list(what: string, entries: Waiting["requests"]): string | null {
  if (entries.length === 0) {
    return null;
  }
  const oldest = entries.toSorted((a, b) => b.ageMs - a.ageMs).slice(0, NAMED);
  const named = oldest.map((entry) => `${entry.name} ${(entry.ageMs / 1000).toFixed(1)} s`).join(", ");
  const more = entries.length > NAMED ? `, ${entries.length - NAMED} more` : "";
  return `${entries.length} ${what}${entries.length === 1 ? "" : "s"} (${named}${more})`;
}

/** `draining, 7.0 s left: waiting for 2 requests (GET /work 3.2 s, GET /hold 1.0 s), 1 task (receipt 42 2.0 s)`. */
export function describeWaiting(waiting: Waiting): string {
  const parts = [list("request", waiting.requests), list("task", waiting.tasks)];
  if ((waiting.workers ?? []).length > 0) {
    parts.push(waiting.workers?.join(", ") ?? null);
  }
  if (waiting.hook !== null) {
    parts.push(`teardown hook '${waiting.hook}'`);
  }
  const named = parts.filter((part) => part !== null);
  if (named.length === 0) {
    named.push(`${waiting.connections} connection${waiting.connections === 1 ? "" : "s"} to end`);
  }
  return `${waiting.phase}, ${formatDuration(Math.max(0, waiting.remainingMs))} left: waiting for ${named.join(", ")}`;
}
