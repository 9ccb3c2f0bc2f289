/** The lines that the witness inside a service writes -> witness records. A line that was cut off by a kill counts for nothing. */

import type { WitnessRecord } from "../ledger/records.ts";

type Line =
  | { readonly on: "watch"; readonly pid: number; readonly t: number }
  | {
      readonly on: "arrival";
      readonly pid: number;
      readonly t: number;
      readonly n: number;
      readonly id: string;
      readonly method: string;
    }
  | { readonly on: "body"; readonly pid: number; readonly t: number; readonly n: number }
  | {
      readonly on: "answer" | "cut";
      readonly pid: number;
      readonly t: number;
      readonly n: number;
      readonly status: number;
      /** The whole body of the request had come. */
      readonly body: boolean;
      readonly by?: "peer" | "service";
    };

function parse(text: string): Line | null {
  try {
    const value = JSON.parse(text) as Line;
    return typeof value === "object" && typeof value.t === "number" ? value : null;
  } catch {
    return null;
  }
}

/** Whether any process of the copy has loaded the witness. */
export function isWatched(text: string): boolean {
  return text.split("\n").some((line) => parse(line)?.on === "watch");
}

type Draft = { -readonly [Key in keyof WitnessRecord]: WitnessRecord[Key] };

/** `baseMs`: the run's time zero on the monotonic clock. A copy may be several processes, which share its file. */
export function readWitness(text: string, copy: string, baseMs: number): readonly WitnessRecord[] {
  const drafts = new Map<string, Draft>();
  for (const raw of text.split("\n")) {
    const line = parse(raw);
    if (line === null || line.on === "watch") {
      continue;
    }
    const key = `${line.pid} ${line.n}`;
    const atMs = Math.round((line.t - baseMs) * 1000) / 1000;
    if (line.on === "arrival") {
      drafts.set(key, {
        kind: "witness",
        id: line.id,
        copy,
        by: "import",
        method: line.method,
        arrivedMs: atMs,
        bodyMs: null,
        answeredMs: null,
        status: null,
        closedFirst: null,
      });
      continue;
    }
    const draft = drafts.get(key);
    if (draft === undefined) {
      continue;
    }
    if (line.on === "body") {
      draft.bodyMs = atMs;
      continue;
    }
    draft.bodyMs ??= line.body ? atMs : null;
    draft.status = line.status === 0 ? draft.status : line.status;
    if (line.on === "answer") {
      draft.answeredMs = atMs;
    } else {
      draft.closedFirst = line.by ?? null;
    }
  }
  return [...drafts.values()];
}
