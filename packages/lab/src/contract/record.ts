/** The shutdown record as a judge reads it: the fields of docs/record.md, taken from a line that may be anybody's. */

export interface ShutdownRecord {
  readonly schema: string;
  readonly reason: string;
  readonly signal: string | null;
  /** Who else handles the stop signal. */
  readonly foreign?: readonly string[];
  readonly others: readonly { readonly signal: string; readonly atMs: number; readonly effect: string }[];
  readonly phases: Readonly<Record<"lameDuckMs" | "drainingMs" | "teardownMs" | "totalMs", number>>;
  readonly requests: {
    readonly accepted: number;
    readonly completed: number;
    readonly clientGone: number;
    readonly unfinished: number;
    readonly refused: Readonly<Record<string, number>>;
  };
  readonly unfinished: readonly { readonly route: string; readonly ageMs: number; readonly cut: string }[];
  readonly tasks: Readonly<Record<"completed" | "failed" | "aborted" | "abandoned", number>>;
  readonly unfinishedTasks: readonly { readonly name: string; readonly fate: string }[];
  readonly teardown: readonly { readonly name: string; readonly outcome: string; readonly ms: number }[];
  readonly held: readonly string[];
  readonly errors: readonly string[];
  readonly outcome: string;
  readonly endedBy: string;
  readonly exitCode: number;
  /** Only where the watchdog ended the process. */
  readonly blockedIn?: string;
}

/** Fields that must be there, and what they must be, for a line to be read as a record. */
const FIELDS: Readonly<
  Record<
    Exclude<keyof ShutdownRecord, "blockedIn" | "foreign">,
    "string" | "number" | "object" | "string or null"
  >
> = {
  schema: "string",
  reason: "string",
  signal: "string or null",
  others: "object",
  phases: "object",
  requests: "object",
  unfinished: "object",
  tasks: "object",
  unfinishedTasks: "object",
  teardown: "object",
  held: "object",
  errors: "object",
  outcome: "string",
  endedBy: "string",
  exitCode: "number",
};

/** The fields that a record lacks or that are of another type. */
export function lackingFields(value: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(FIELDS)
    .filter(([name, type]) => {
      const field = value[name];
      if (type === "string or null") {
        return field !== null && typeof field !== "string";
      }
      return field === null || typeof field !== type;
    })
    .map(([name]) => name);
}

/** The last line that is a record, or null. */
export function findRecord(lines: readonly string[]): ShutdownRecord | null {
  return findRecords(lines).at(-1) ?? null;
}

/** Every line that is a record. */
export function findRecords(lines: readonly string[]): readonly ShutdownRecord[] {
  return lines.flatMap((line) => {
    if (!line.startsWith("{")) {
      return [];
    }
    try {
      const value = JSON.parse(line) as Record<string, unknown>;
      return typeof value["schema"] === "string" && value["schema"].startsWith("lastcall.record/")
        ? [value as unknown as ShutdownRecord]
        : [];
    } catch {
      // A line that only looks like JSON is somebody else's log line.
      return [];
    }
  });
}
