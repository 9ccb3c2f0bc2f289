/** Many real shutdowns at random instants under a mixed load, each record compared with what the clients saw. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ShutdownRecord } from "../../src/record.ts";
import { chance, type Chance } from "./chance.ts";
import { dawdle, nothing, use, type Seen } from "./client.ts";

const SERVICE = fileURLToPath(new URL("../fixtures/soak-service.js", import.meta.url));
const GRACEFUL_MS = 1000;
/** Nothing takes this long but a shutdown that hangs. */
const LIMIT_MS = 60_000;

export interface Soaked {
  readonly shutdowns: number;
  readonly clean: number;
  readonly seen: Seen;
  readonly accepted: number;
}

/** The state letter of a process; null when there is none. */
function processState(pid: number | string): string | null {
  try {
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Processes whose parent we are. */
export function children(): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === String(process.pid)
      );
    } catch {
      return false;
    }
  });
}

export function openFiles(): number {
  return readdirSync("/proc/self/fd").length;
}

function settings(draw: Chance): Record<string, string> {
  return {
    LASTCALL_GRACE_PERIOD: "30s",
    LASTCALL_DRAIN_DELAY: draw.pick(["0", "100ms", "300ms"]),
    LASTCALL_GRACEFUL_TIMEOUT: `${GRACEFUL_MS}ms`,
    // A machine that is too busy may stand still for seconds.
    LASTCALL_TEARDOWN_TIMEOUT: "15s",
    LASTCALL_ADMISSION: draw.pick(["close", "close", "respond"]),
    LASTCALL_LEAVE_ORDER: draw.pick(["announce-first", "listener-first"]),
    LASTCALL_LOG: "none",
  };
}

/** One life and its end. */
async function shutDown(seed: number): Promise<{ readonly seen: Seen; readonly record: ShutdownRecord }> {
  const draw = chance(seed);
  const env = { ...process.env, ...settings(draw) };
  const child = spawn(process.execPath, [SERVICE], { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += String(chunk);
  });
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const stuck = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const closed = once(child, "close") as Promise<[number | null, string | null]>;
  const [first] = (await once(child.stdout, "data")) as [Buffer];
  child.stdout.resume();
  const port = Number(String(first));
  const seen = nothing();
  const clients = Array.from({ length: 6 }, (_, at) => use(port, chance(seed * 100 + at), seen, isOver));
  if (draw.oneIn(3)) {
    dawdle(port, draw, seen);
  }
  await pause(draw.below(300));
  child.kill(draw.pick(["SIGTERM", "SIGTERM", "SIGINT"]));
  if (draw.oneIn(4)) {
    await pause(draw.below(600));
    child.kill(draw.pick(["SIGTERM", "SIGINT"]));
  }
  const [code, signal] = await closed;
  clearTimeout(stuck);
  await Promise.all(clients);
  const state = child.pid === undefined ? null : processState(child.pid);
  assert.equal(state, null, `process ${child.pid} is still there, in state ${state}`);
  assert.equal(signal, null, `it was ended by ${signal}`);
  const lines = said.split("\n").filter((line) => line.startsWith('{"schema"'));
  assert.equal(lines.length, 1, `exactly one record: ${said}`);
  const record = JSON.parse(lines[0] ?? "") as ShutdownRecord;
  assert.equal(code, record.exitCode);
  try {
    compare(seen, record);
  } catch (error) {
    throw new Error(`${String(error)}\n${JSON.stringify(seen)}\n${lines[0]}`, { cause: error });
  }
  return { seen, record };
}

/** Equal where the client saw the end of it; between the bounds where it left or cannot know. */
function compare(seen: Seen, record: ShutdownRecord): void {
  const { requests, unfinished, tasks } = record;
  const unknown = seen.left + seen.doubtful;
  const between = (what: string, low: number, value: number, high: number): void =>
    assert.ok(low <= value && value <= high, `${what}: ${low} <= ${value} <= ${high}`);
  assert.equal(seen.wrong, 0);
  assert.equal(requests.accepted, requests.completed + requests.unfinished);
  between("completed", seen.complete, requests.completed - requests.clientGone, seen.complete + unknown);
  assert.ok(requests.clientGone <= unknown, "more clients are gone than have left");
  const cut = (how: string): number => unfinished.filter((one) => one.cut === how).length;
  assert.equal(unfinished.length + (record.cut?.["unfinished"] ?? 0), requests.unfinished);
  const noes = requests.refused["503"] + cut("503");
  between("refusals", seen.refused, noes, seen.refused + unknown + seen.silent);
  between("resets", seen.truncated, cut("reset"), seen.truncated + unknown);
  const all = tasks.completed + tasks.failed + tasks.aborted + tasks.abandoned;
  between("tasks", seen.accepted202, all, seen.accepted202 + unknown + requests.unfinished);
  assert.deepEqual(
    record.teardown.map(({ name, outcome }) => `${name} ${outcome}`),
    ["second done", "first done"],
  );
  const isClean = requests.unfinished + tasks.aborted + tasks.abandoned === 0;
  const wasForced = record.others.some(({ effect }) => effect === "forced");
  assert.equal(record.outcome, isClean && !wasForced ? "drained" : "incomplete");
  assert.equal(record.exitCode, isClean && !wasForced ? 0 : 3);
}

/** `count` shutdowns, `atOnce` at the same time. Rejects with the seed of the first that is not as it should be. */
export async function soak(count: number, atOnce: number, seed: number): Promise<Soaked> {
  const seen = nothing();
  let next = 0;
  let clean = 0;
  let accepted = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const mine = seed + next;
      next += 1;
      try {
        const one = await shutDown(mine);
        for (const key of Object.keys(seen) as (keyof Seen)[]) {
          seen[key] += one.seen[key];
        }
        clean += one.record.outcome === "drained" ? 1 : 0;
        accepted += one.record.requests.accepted;
      } catch (error) {
        next = count;
        throw new Error(`seed ${mine}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { shutdowns: count, clean, seen, accepted };
}
