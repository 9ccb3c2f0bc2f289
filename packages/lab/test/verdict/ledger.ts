/** Ledgers written by hand: a run with one restart of A (signal at 2000, gone at 2500), and requests to put into it. */

import type {
  EndRecord,
  EventRecord,
  ExecutedRecord,
  LedgerRecord,
  RequestRecord,
  RouterLogRecord,
  RunRecord,
  WitnessRecord,
} from "../../src/ledger/records.ts";
import { createJudge } from "../../src/verdict/judge.ts";
import type { Verdict } from "../../src/verdict/verdict.ts";

export const PORT: Readonly<Record<string, number>> = { A: 9001, B: 9002, A2: 9003 };

export function run(change: Partial<RunRecord> = {}): RunRecord {
  return {
    kind: "run",
    schema: "lastcall.ledger/1",
    scenario: "by hand",
    seed: 1,
    at: "2026-01-01T00:00:00Z",
    command: [],
    router: "embedded",
    machine: { node: "v20", platform: "linux", cores: 2 },
    parameters: {},
    ...change,
  };
}

let serial = 0;

/** A good GET to B of 50 ms at `atMs`, unless told otherwise. */
export function request(
  atMs: number,
  change: Partial<Omit<RequestRecord, "connection" | "bytes">> & {
    readonly tookMs?: number;
    readonly reuse?: number;
    readonly ageMs?: number;
    readonly bytes?: RequestRecord["bytes"];
  } = {},
): RequestRecord {
  const { tookMs = 50, reuse = 0, ageMs = 0, ...rest } = change;
  serial += 1;
  return {
    kind: "request",
    id: `r1-${serial}`,
    method: "GET",
    path: "/work",
    intendedMs: atMs,
    dispatchedMs: atMs,
    connectedMs: atMs,
    writtenMs: atMs,
    firstByteMs: atMs + tookMs,
    endedMs: atMs + tookMs,
    fate: "answered",
    status: 200,
    stage: null,
    error: null,
    connection: { id: serial, reuse, ageMs, closedFirst: null },
    bytes: { promised: 2, got: 2 },
    copy: rest.upstream === undefined ? "B" : null,
    upstream: null,
    ...rest,
  };
}

/** The router's own error about a try at `copy`. */
export function routerError(
  atMs: number,
  copy: string,
  change: Parameters<typeof request>[1] = {},
): RequestRecord {
  return request(atMs, {
    status: 502,
    tookMs: 2,
    upstream: `127.0.0.1:${PORT[copy]}`,
    copy: null,
    ...change,
  });
}

/** No whole answer. */
export function failure(
  atMs: number,
  stage: RequestRecord["stage"],
  error: string,
  change: Parameters<typeof request>[1] = {},
): RequestRecord {
  return request(atMs, {
    fate: "failed",
    stage,
    error,
    status: null,
    copy: null,
    tookMs: 2,
    bytes: { promised: null, got: 0 },
    ...change,
  });
}

export function event(
  atMs: number,
  name: EventRecord["event"],
  copy: string | null = null,
  detail: EventRecord["detail"] = {},
): EventRecord {
  return { kind: "event", atMs, source: copy === null ? "lab" : "target", copy, event: name, detail };
}

export function line(atMs: number, kind: string, copy: string, about = "GET /work"): RouterLogRecord {
  return {
    kind: "router-log",
    atMs,
    class: kind,
    text: `${kind}, upstream: 127.0.0.1:${PORT[copy]}, request: "${about}"`,
  };
}

export function executed(id: string, copy: string | null = "B"): ExecutedRecord {
  return { kind: "executed", id, copy };
}

/** A copy's own word: it came whole, and was answered with 201 ten milliseconds later. */
export function witness(id: string, copy: string, atMs: number): WitnessRecord {
  return {
    kind: "witness",
    id,
    copy,
    by: "import",
    method: "POST",
    arrivedMs: atMs,
    bodyMs: atMs,
    answeredMs: atMs + 10,
    status: 201,
    closedFirst: null,
  };
}

export function end(change: Partial<EndRecord> = {}): EndRecord {
  return { kind: "end", atMs: 10_000, reason: "finished", ...change };
}

/** A gets its signal at 2000, exits at 2500, leaves the router at 3000; A2 is ready at 3500 and serves from 3600 on. */
export function restart(
  change: {
    readonly exitMs?: number;
    readonly signal?: string;
    readonly killedMs?: number;
    /** What A's readiness says 10 ms after the signal, for as long as it lives; null: still 200. */
    readonly notReady?: number | string | null;
    readonly program?: string;
    readonly below?: string;
    readonly leftBehind?: boolean;
  } = {},
): readonly EventRecord[] {
  const { exitMs = 2500, signal = "SIGTERM", killedMs, notReady = 503 } = change;
  const { program = "node", below = null, leftBehind = false } = change;
  return [
    event(-500, "started", "A", { pid: 101, port: 9001 }),
    event(-500, "started", "B", { pid: 102, port: 9002 }),
    event(-200, "ready", "A"),
    event(-200, "ready", "B"),
    event(-100, "added", "A"),
    event(-100, "added", "B"),
    event(0, "load-started"),
    event(2000, "signal", "A", { signal, program, below }),
    ...(notReady === null || exitMs <= 2010 ? [] : [event(2010, "not-ready", "A", { seen: notReady })]),
    ...(killedMs === undefined ? [] : [event(killedMs, "killed", "A")]),
    event(exitMs, "exited", "A", { code: 0, signal: null, leftBehind }),
    event(3000, "removed", "A"),
    event(exitMs + 100, "started", "A2", { pid: 103, port: 9003 }),
    event(exitMs + 1000, "ready", "A2"),
    event(exitMs + 1100, "added", "A2"),
    event(9000, "load-ended"),
    event(9500, "signal", "A2", { signal: "SIGTERM" }),
    event(9500, "signal", "B", { signal: "SIGTERM" }),
    event(9600, "exited", "A2", { code: 0, signal: null }),
    event(9600, "exited", "B", { code: 0, signal: null }),
  ];
}

/** A baseline of 20 good requests before the signal. */
export function baseline(): readonly RequestRecord[] {
  return Array.from({ length: 20 }, (_, n) => request(100 + n * 50, { copy: n % 2 === 0 ? "101" : "102" }));
}

export function judge(records: readonly LedgerRecord[]): Verdict {
  const all = createJudge();
  for (const record of records) {
    all.add(record);
  }
  return all.verdict();
}

/** Judges a run of one restart with these records in it. */
export function judgeRestart(
  records: readonly LedgerRecord[],
  options: Parameters<typeof restart>[0] & { readonly run?: Partial<RunRecord> } = {},
): Verdict {
  return judge([run(options.run), ...restart(options), ...baseline(), ...records, end()]);
}
