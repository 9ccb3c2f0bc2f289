/**
 * The launcher's options: what `server.js` takes on its command line and from the environment, checked once, here.
 * What a stop may take is passed on to the lifecycle only where it was said, so that `LASTCALL_*` and the library's
 * derived parts keep working.
 */

import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { LifecycleOptions } from "lastcall";
import { parseDuration } from "./durations.ts";

export const BUILD_NAMES = ["bare", "naive", "lastcall", "auto", "auto-naive"] as const;
export type BuildName = (typeof BUILD_NAMES)[number];

export interface Options {
  readonly build: BuildName;
  readonly host: string;
  /** 0 lets the system choose; the start line tells which it was. */
  readonly port: number;
  readonly adminPort: number | undefined;
  readonly accessLogFile: string | undefined;
  readonly ordersFile: string;
  readonly eventsFile: string | undefined;
  readonly outboxFile: string | undefined;
  readonly executedFile: string | undefined;
  /** Only what was said, and what this service's defaults add to it. */
  readonly lifecycle: LifecycleOptions;
}

/** Something on the command line or in the environment that cannot be used. The launcher prints it and exits 2. */
export class UsageError extends Error {}

const FLAGS = {
  build: { type: "string" },
  host: { type: "string" },
  port: { type: "string" },
  "admin-port": { type: "string" },
  "grace-period": { type: "string" },
  "drain-delay": { type: "string" },
  "graceful-timeout": { type: "string" },
  "task-timeout": { type: "string" },
  "teardown-timeout": { type: "string" },
  "leave-order": { type: "string" },
  admission: { type: "string" },
  boundary: { type: "string" },
  "access-log": { type: "string" },
  db: { type: "string" },
  events: { type: "string" },
  outbox: { type: "string" },
  executed: { type: "string" },
} as const;
type Flags = { readonly [name in keyof typeof FLAGS]?: string | undefined };
type Environment = Readonly<Record<string, string | undefined>>;

/** Throws `UsageError` for what is unknown, missing or malformed. */
export function parseOptions(args: readonly string[], environment: Environment): Options {
  const flags = readFlags(args);
  const port =
    flags.port === undefined ? (portOf("PORT", environment["PORT"]) ?? 9001) : required(flags, "port");
  return {
    build: oneOf("--build", flags.build ?? "bare", BUILD_NAMES),
    host: flags.host ?? "127.0.0.1",
    port,
    adminPort: portOf("--admin-port", flags["admin-port"]),
    accessLogFile: flags["access-log"],
    ordersFile: flags.db ?? path.join(tmpdir(), `orders-${port === 0 ? process.pid : port}.db`),
    eventsFile: flags.events,
    outboxFile: flags.outbox,
    executedFile: flags.executed ?? environment["LASTCALL_EXECUTED"],
    lifecycle: lifecycleOptions(flags, environment),
  };
}

function readFlags(args: readonly string[]): Flags {
  try {
    return parseArgs({ args: [...args], options: FLAGS, allowPositionals: false }).values;
  } catch (error) {
    const known = Object.keys(FLAGS).map((name) => `--${name}`);
    const seen = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${seen}\nKnown options: ${known.join(" ")}.`, { cause: error });
  }
}

function required(flags: Flags, name: "port"): number {
  const port = portOf(`--${name}`, flags[name]);
  if (port === undefined) throw new UsageError(`--${name} needs a number.`);
  return port;
}

function portOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined || (text === "" && name === "PORT")) return undefined;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`${name} is "${text}": a port is a whole number from 0 to 65535.`);
}

function oneOf<const T extends string>(name: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((each) => each === text);
  if (choice === undefined)
    throw new UsageError(`${name} is "${text}": choose one of ${choices.join(", ")}.`);
  return choice;
}

function duration(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === null) throw new UsageError(`${name} is "${text}": write a duration such as 5s or 250ms.`);
  return ms;
}

/** The documented budget of this service, where nobody says otherwise. */
const DEFAULTS = { gracePeriodMs: 30_000, drainDelayMs: 0, gracefulTimeoutMs: 10_000, taskTimeoutMs: 5000 };

function lifecycleOptions(flags: Flags, environment: Environment): LifecycleOptions {
  const said = {
    gracePeriodMs: duration("--grace-period", flags["grace-period"]),
    drainDelayMs: duration("--drain-delay", flags["drain-delay"]),
    gracefulTimeoutMs: duration("--graceful-timeout", flags["graceful-timeout"]),
    taskTimeoutMs: duration("--task-timeout", flags["task-timeout"]),
    teardownTimeoutMs: duration("--teardown-timeout", flags["teardown-timeout"]),
    adminPort: portOf("--admin-port", flags["admin-port"]),
    leaveOrder:
      flags["leave-order"] &&
      oneOf("--leave-order", flags["leave-order"], ["auto", "announce-first", "listener-first"]),
    admission: flags.admission && oneOf("--admission", flags.admission, ["close", "respond"]),
    boundary: flags.boundary && oneOf("--boundary", flags.boundary, ["response", "handler"]),
  };
  const wins = (ms: number | undefined, name: string): number | undefined =>
    parseDuration(environment[name] ?? "") ?? ms;
  const grace = wins(said.gracePeriodMs, "LASTCALL_GRACE_PERIOD");
  const graceful = wins(said.gracefulTimeoutMs, "LASTCALL_GRACEFUL_TIMEOUT");
  // A default never makes a budget that cannot fit: in a shorter grace period the parts are the library's to derive.
  const roomy = grace === undefined || grace >= DEFAULTS.gracePeriodMs;
  const defaults = {
    ...(grace === undefined && { gracePeriodMs: DEFAULTS.gracePeriodMs }),
    ...(environment["LASTCALL_DRAIN_DELAY"] === undefined && { drainDelayMs: DEFAULTS.drainDelayMs }),
    ...(graceful === undefined && roomy && { gracefulTimeoutMs: DEFAULTS.gracefulTimeoutMs }),
    ...((graceful === undefined ? roomy : graceful >= DEFAULTS.taskTimeoutMs) &&
      environment["LASTCALL_TASK_TIMEOUT"] === undefined && { taskTimeoutMs: DEFAULTS.taskTimeoutMs }),
    // Mails are sent after the answer inside the request's own lifetime (`/email/background`).
    ...(environment["LASTCALL_BOUNDARY"] === undefined && { boundary: "handler" as const }),
  };
  const given = Object.entries(said).filter(([, value]) => value !== undefined && value !== "");
  return { ...defaults, ...Object.fromEntries(given) };
}
