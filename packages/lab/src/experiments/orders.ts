/** A copy of the orders service on the stage, and everything that it leaves behind, read back. */

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { openWire } from "../contract/open-wire.ts";
import type { Wire } from "../contract/wire.ts";
import { LabError } from "../errors.ts";
import type { RunClock } from "../ledger/clock.ts";
import { ORDERS_SERVER } from "../rollout/service.ts";
import { startCopy, type Copy } from "../target/copy.ts";
import type { Guardian } from "../target/guardian.ts";
import { ask, type Asked, type Fate } from "./answer.ts";
import type { Moment } from "./tale.ts";

export interface OrdersSpec {
  /** A name for its files; once per stage. */
  readonly name: string;
  readonly build: "bare" | "naive" | "lastcall";
  readonly args?: readonly string[];
  /** How its command is started: before a wrapper, in a namespace. */
  readonly wrap?: (command: readonly string[]) => readonly string[];
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Since the stop signal. */
  readonly afterMs: number;
}

/** What the experiments read of the library's record (docs/record.md). */
export interface ShutdownRecord {
  readonly outcome: string;
  readonly exitCode: number;
  readonly endedBy: string;
  readonly blockedIn?: string;
  readonly requests: { readonly unfinished: number };
  readonly unfinished: readonly { readonly route: string; readonly cut: string }[];
  readonly tasks: { readonly completed: number; readonly aborted: number; readonly abandoned: number };
  readonly unfinishedTasks: readonly { readonly name: string; readonly fate: string }[];
}

export interface OrdersService {
  readonly name: string;
  readonly copy: Copy;
  open(): Promise<Wire>;
  ask(asked: Asked): Promise<Fate>;
  /** Sends the signal now; resolves with the exit. SIGKILL follows after 60 s. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
  accessLog(): readonly string[];
  events(): readonly string[];
  outbox(): readonly string[];
  /** The last one, null when there is none. */
  record(): ShutdownRecord | null;
  /** Since the signal; a signal that no handler saw is put in by its time. */
  timeline(): Promise<readonly Moment[]>;
  ordersFile: string;
}

interface Context {
  readonly clock: RunClock;
  readonly guardian: Guardian;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const PATIENCE_MS = 60_000;
const READY_TIMEOUT_MS = 20_000;

type MergeTimeline = (events: string, accessLog: string) => readonly Moment[];

export async function startOrders(spec: OrdersSpec, port: number, context: Context): Promise<OrdersService> {
  if (!existsSync(ORDERS_SERVER)) {
    throw new LabError(
      "LAB_TARGET_NOT_STARTED",
      "The experiments run the orders service, which is built in a clone of the repository only.",
      "Clone it and run `npm ci`.",
    );
  }
  const file = (name: string): string => path.join(context.folder, `${spec.name}-${name}`);
  const read = (name: string): string => (existsSync(file(name)) ? readFileSync(file(name), "utf8") : "");
  const lines = (name: string): readonly string[] => read(name).split("\n").filter(Boolean);
  const files = ["db", "events", "outbox", "access-log"].flatMap((name) => [`--${name}`, file(name)]);
  const command = [
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    ORDERS_SERVER,
    "--build",
    spec.build,
    "--port",
    String(port),
    ...files,
    ...(spec.args ?? []),
  ];
  const copy = await startCopy(
    {
      name: spec.name,
      command: spec.wrap?.(command) ?? command,
      env: { ...context.env, LASTCALL_RECORD_FILE: file("record") },
      cwd: context.folder,
      port,
      readyPath: "/ready",
      livePath: null,
      readyTimeoutMs: READY_TIMEOUT_MS,
      outputFile: file("output.log"),
    },
    { clock: context.clock, guardian: context.guardian, emit: () => undefined },
  );
  /** Wall time: the service's files have no other. */
  let signal: { readonly name: string; readonly wallMs: number } | null = null;
  return {
    name: spec.name,
    copy,
    ordersFile: file("db"),
    open: () => openWire({ kind: "tcp", port, tls: false }),
    ask: (asked) => ask(port, asked),
    stop: async (name = "SIGTERM") => {
      signal ??= { name, wallMs: Date.now() };
      const signalMs = context.clock.now();
      const exit = await copy.stop(name, PATIENCE_MS);
      return { code: exit.code, signal: exit.signal, afterMs: exit.atMs - signalMs };
    },
    accessLog: () => lines("access-log"),
    events: () => lines("events").map((line) => (JSON.parse(line) as { readonly event: string }).event),
    outbox: () => lines("outbox").map((line) => (JSON.parse(line) as { readonly tag: string }).tag),
    record: () => {
      const last = lines("record").at(-1);
      return last === undefined ? null : (JSON.parse(last) as ShutdownRecord);
    },
    timeline: async () => {
      const { mergeTimeline } = (await import(
        new URL("./timeline.js", pathToFileURL(ORDERS_SERVER)).href
      )) as { readonly mergeTimeline: MergeTimeline };
      const events = read("events");
      const unheard = signal !== null && !events.includes('"event":"signal"');
      const heard = unheard
        ? `${events}${JSON.stringify({ wallMs: signal?.wallMs, event: "signal", signal: signal?.name })}\n`
        : events;
      return mergeTimeline(heard, read("access-log"));
    },
  };
}
