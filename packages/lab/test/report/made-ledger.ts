/** A ledger of any size, made line by line: a rolling restart behind a router that lags, with losses of several kinds. */

import { closeSync, openSync, writeSync } from "node:fs";
import type { EventRecord, LedgerRecord, RequestRecord } from "../../src/ledger/records.ts";
import { uniform } from "../../src/load/random.ts";

export interface Wish {
  readonly requests: number;
  readonly ratePerSecond: number;
  readonly restarts: number;
  /** From the exit of a copy until the router no longer sends to it: requests in it are lost. 0: none is. */
  readonly closedDoorMs: number;
  /** Every second request is a POST whose row is read from the store. */
  readonly posts?: boolean;
}

const HEAD_MS = 200;

interface Life {
  readonly copy: string;
  readonly place: number;
  readonly port: number;
  /** In rotation. */
  readonly from: number;
  exit: number;
}

/** One record after the other, in the order of a real ledger. */
export function* madeRecords(wish: Wish): Generator<LedgerRecord, void, undefined> {
  const { requests, ratePerSecond, restarts, closedDoorMs } = wish;
  const lengthMs = (requests / ratePerSecond) * 1000;
  const everyMs = lengthMs / (restarts + 1);
  const drainMs = Math.min(400, everyMs / 8);
  const startMs = Math.min(600, everyMs / 6);
  yield {
    kind: "run",
    schema: "lastcall.ledger/1",
    scenario: "made",
    seed: 1,
    at: "2026-05-19T21:55:01.000Z",
    command: ["node", "service.js"],
    router: "nginx 1.22.1",
    machine: { node: "v20.19.0", platform: "linux", cores: 2 },
    parameters: { signal: "SIGTERM", drainDelayMs: 0, propagationMs: 1000, ratePerSecond, copies: 2 },
  };
  const events: EventRecord[] = [];
  const tell = (
    atMs: number,
    copy: string | null,
    event: EventRecord["event"],
    detail: EventRecord["detail"] = {},
  ): void => void events.push({ kind: "event", atMs, source: "lab", copy, event, detail });
  const lives: Life[] = [];
  const leave = (place: number, at: number): void => {
    const old = lives.findLast((life) => life.place === place);
    const exit = at + drainMs;
    const back = exit + Math.max(startMs, closedDoorMs) + 20;
    const generation = lives.filter((life) => life.place === place).length + 1;
    const next = {
      copy: `${"AB"[place]}${generation}`,
      place,
      port: 9002 + lives.length,
      from: back,
      exit: Infinity,
    };
    if (old !== undefined) {
      old.exit = exit;
      tell(at, old.copy, "signal", { signal: "SIGTERM" });
      tell(at + 8, old.copy, "not-ready");
      tell(exit, old.copy, "exited", { code: 0, signal: null, asked: true });
      tell(exit + closedDoorMs, old.copy, "removed", { port: old.port });
    }
    tell(exit + 5, next.copy, "started", { pid: 200 + lives.length, port: next.port });
    tell(exit + startMs, next.copy, "ready");
    tell(back, next.copy, "added", { port: next.port });
    lives.push(next);
  };
  for (const [place, copy] of ["A", "B"].entries()) {
    lives.push({ copy, place, port: 9000 + place, from: 0, exit: Infinity });
    tell(10, copy, "started", { pid: 100 + place, port: 9000 + place });
    tell(90, copy, "ready");
    tell(120, copy, "added", { port: 9000 + place });
  }
  tell(HEAD_MS, null, "load-started");
  for (let n = 0; n < restarts; n += 1) {
    leave(n % 2, HEAD_MS + everyMs * (n + 0.6));
  }
  events.sort((a, b) => a.atMs - b.atMs);
  const byPlace = [0, 1].map((place) => lives.filter((life) => life.place === place));
  const current = [0, 0];
  const lost = new Set<number>();
  let told = 0;
  for (let n = 0; n < requests; n += 1) {
    const due = HEAD_MS + (n * 1000) / ratePerSecond;
    while (told < events.length && (events[told]?.atMs ?? Infinity) <= due) {
      yield events[told++] as EventRecord;
    }
    const now = [0, 1].map((place) => {
      const own = byPlace[place] ?? [];
      // The next copy takes over when it is in rotation.
      while ((own[(current[place] ?? 0) + 1]?.from ?? Infinity) <= due) {
        current[place] = (current[place] ?? 0) + 1;
      }
      return own[current[place] ?? 0] as Life;
    }) as [Life, Life];
    const request = requestAt(wish, n, due, now);
    if (request.status === 502) {
      lost.add(n);
    }
    yield request;
  }
  yield* events.slice(told);
  const end = HEAD_MS + lengthMs + 500;
  yield { kind: "event", atMs: end, source: "lab", copy: null, event: "load-ended", detail: {} };
  let rows = 0;
  if (wish.posts === true) {
    for (let n = 1; n < requests; n += 2) {
      if (!lost.has(n)) {
        rows += 1;
        yield { kind: "executed", id: idOf(n), copy: null };
      }
    }
  }
  yield { kind: "end", atMs: end + 10, reason: "finished", rows: wish.posts === true ? rows : null };
}

function idOf(n: number): string {
  return `r1-${String(n + 1).padStart(6, "0")}`;
}

function requestAt(
  { closedDoorMs, posts }: Wish,
  n: number,
  due: number,
  now: readonly [Life, Life],
): RequestRecord {
  const dice = uniform(1, "mix", n);
  const other = uniform(2, "mix", n);
  // Most answers in some milliseconds, a tail up to seconds.
  const tookMs = 2 + 6 * dice + (other < 0.02 ? 40 * dice : 0) + (other < 0.0004 ? 900 * dice : 0);
  const wanted = now[n % 2] as Life;
  // Between its exit and its removal the router still sends to it; after that to the other.
  const lost = due >= wanted.exit && due < wanted.exit + closedDoorMs;
  const met = due < wanted.exit || lost ? wanted : (now[(n + 1) % 2] as Life);
  const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;
  const method = posts === true && n % 2 === 1 ? "POST" : "GET";
  const sent = rounded(due + 0.05 + 0.2 * other);
  const ended = rounded(sent + (lost ? 1.4 : tookMs));
  const address = `127.0.0.1:${met.port}`;
  const code = lost ? 502 : 200;
  return {
    kind: "request",
    id: idOf(n),
    method,
    path: method === "GET" ? `/work?seconds=0.3&id=${idOf(n)}` : `/orders?id=${idOf(n)}`,
    intendedMs: rounded(due),
    dispatchedMs: sent,
    connectedMs: sent,
    writtenMs: rounded(sent + 0.05),
    firstByteMs: rounded(ended - 0.1),
    endedMs: ended,
    fate: "answered",
    status: code,
    stage: null,
    error: null,
    connection: { id: (n % 32) + 1, reuse: Math.floor(n / 32), ageMs: rounded(due), closedFirst: null },
    bytes: { promised: 25, got: 25 },
    copy: lost ? null : met.copy,
    upstream: `${address}|${code}|${code === 200 ? "0.000" : "-"}|${(tookMs / 1000).toFixed(3)}`,
  };
}

export function writeMade(file: string, wish: Wish): void {
  const handle = openSync(file, "w");
  let text = "";
  for (const record of madeRecords(wish)) {
    text += `${JSON.stringify(record)}\n`;
    if (text.length > 1_000_000) {
      writeSync(handle, text);
      text = "";
    }
  }
  writeSync(handle, text);
  closeSync(handle);
}
