/** What the service says it has executed, read after the run. */

import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { ExecutedRecord, LedgerRecord } from "../ledger/records.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import { FILES, ORDERS_SERVER, placeOf } from "./service.ts";

export interface Executed {
  /** Null: nobody could tell. */
  readonly rows: readonly ExecutedRecord[] | null;
  /** What does not fit together, for the ledger's notes. */
  readonly notes: readonly string[];
}

/** An id a line; a line of JSON may carry it as `id`. The last line counts only when it is whole. */
export function idsIn(text: string): readonly string[] {
  const lines = text.split("\n");
  lines.pop();
  return lines.flatMap((line) => {
    const trimmed = line.trim();
    if (!trimmed.startsWith("{")) {
      return trimmed === "" ? [] : [trimmed];
    }
    try {
      const id = (JSON.parse(trimmed) as { readonly id?: unknown }).id;
      return typeof id === "string" || typeof id === "number" ? [String(id)] : [];
    } catch {
      return [];
    }
  });
}

async function textOf(file: string, offset: number): Promise<string> {
  try {
    return (await readFile(file)).subarray(offset).toString("utf8");
  } catch {
    return ""; // Not there: the copy has executed nothing.
  }
}

/** Its size before the run: what stands there already belongs to others. */
export async function executedOffset(plan: RolloutPlan, cwd: string): Promise<number> {
  if (plan.executedFile === null) {
    return 0;
  }
  try {
    return (await stat(path.resolve(cwd, plan.executedFile))).size;
  } catch {
    return 0;
  }
}

/** `copies`: the names of all copies that ran. */
export async function readExecuted(
  plan: RolloutPlan,
  folder: string,
  cwd: string,
  offset: number,
  copies: readonly string[],
): Promise<Executed> {
  if (plan.service.kind !== "orders") {
    if (plan.executedFile === null) {
      return { rows: null, notes: [] };
    }
    const ids = idsIn(await textOf(path.resolve(cwd, plan.executedFile), offset));
    return { rows: ids.map((id) => ({ kind: "executed", id, copy: null })), notes: [] };
  }
  // The orders service: the store is the truth; the file of executed ids says which copy it was.
  const copyOf = new Map<string, string>();
  for (const copy of copies) {
    // A few small files.
    for (const id of idsIn(await textOf(path.join(folder, FILES.executed(copy)), 0))) {
      copyOf.set(id, copy);
    }
  }
  const { readOrders } = (await import(new URL("./read-orders.js", pathToFileURL(ORDERS_SERVER)).href)) as {
    readonly readOrders: (file: string) => readonly string[];
  };
  const stored = [...new Set(copies.map(placeOf))].flatMap((place) =>
    readOrders(path.join(folder, FILES.store(place))),
  );
  const inStore = new Set(stored);
  const missing = [...copyOf.keys()].filter((id) => !inStore.has(id));
  const unwitnessed = stored.filter((id) => !copyOf.has(id));
  return {
    rows: stored.map((id) => ({ kind: "executed", id, copy: copyOf.get(id) ?? null })),
    notes: [
      ...(missing.length > 0 ? [`noted as executed and not in the store: ${missing.join(" ")}`] : []),
      ...(unwitnessed.length > 0 ? [`in the store and not noted as executed: ${unwitnessed.join(" ")}`] : []),
    ],
  };
}

const JOBS_LOOK_MS = 250;
/** Nothing more was done for so long: what is missing now is lost. */
const JOBS_STILL_MS = 4000;
const JOBS_LONGEST_MS = 30_000;

/**
 * A 202 promises to do it later: waits until every job that was accepted is done, or until nothing more is being done. The copies
 * still live then. Without a 202 it does not wait.
 */
export async function jobsDone(
  records: readonly LedgerRecord[],
  done: () => Promise<readonly string[]>,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  const open = new Set(
    records.flatMap((record) => (record.kind === "request" && record.status === 202 ? [record.id] : [])),
  );
  let stillMs = 0;
  for (let waitedMs = 0; open.size > 0 && waitedMs < JOBS_LONGEST_MS && stillMs < JOBS_STILL_MS;) {
    const before = open.size;
    // One look after the other.
    for (const id of await done()) {
      open.delete(id);
    }
    stillMs = open.size < before ? 0 : stillMs + JOBS_LOOK_MS;
    waitedMs += JOBS_LOOK_MS;
    if (open.size > 0) {
      await sleep(JOBS_LOOK_MS);
    }
  }
}
