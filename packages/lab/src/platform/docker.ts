/** The Docker engine through its own command line: one command at a time, and its events as they come. */

import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { constants } from "node:os";
import { LabError } from "../errors.ts";
import type { RunClock } from "../ledger/clock.ts";
import type { Guardian } from "../target/guardian.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface DockerEvent {
  /** `create`, `start`, `kill`, `die`, `destroy`, `health_status: healthy`, `update`. */
  readonly action: string;
  readonly type: string;
  /** The container's, the service's. */
  readonly id: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** On the run's clock, from the engine's own stamp. */
  readonly atMs: number;
}

const COMMAND_TIMEOUT_MS = 120_000;
const LAST_LINES = 6;

/** The program's end, whatever it is; code 127 when there is no such program. */
export function runProgram(program: string, args: readonly string[], env: Environment): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      program,
      [...args],
      { env: { ...env }, timeout: COMMAND_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 },
      (error, out, err) => {
        const { code } = (error ?? {}) as { readonly code?: number | string };
        const number = typeof code === "number" ? code : code === "ENOENT" ? 127 : error === null ? 0 : 1;
        resolve({ code: number, out, err: err === "" && error !== null ? error.message : err });
      },
    );
  });
}

export function lastWords({ out, err }: Outcome): string {
  const lines = `${out}\n${err}`.split("\n").filter((line) => line.trim() !== "");
  return lines.length === 0
    ? " It said nothing."
    : `\n${lines
        .slice(-LAST_LINES)
        .map((line) => `    ${line}`)
        .join("\n")}`;
}

/** `LASTCALL_DOCKER` names another program. */
export function dockerProgram(env: Environment): string {
  return env["LASTCALL_DOCKER"] ?? "docker";
}

/** Throws `LAB_PLATFORM_MISSING` where no engine answers. */
export async function assertEngine(env: Environment): Promise<string> {
  const seen = await runProgram(dockerProgram(env), ["version", "--format", "{{.Server.Version}}"], env);
  if (seen.code !== 0) {
    throw new LabError(
      "LAB_PLATFORM_MISSING",
      seen.code === 127
        ? `The program ${dockerProgram(env)} was not found.`
        : `No Docker engine answers${env["DOCKER_HOST"] === undefined ? "" : ` at ${env["DOCKER_HOST"]}`}.${lastWords(seen)}`,
      "Start the engine, or name it with DOCKER_HOST.",
    );
  }
  return seen.out.trim();
}

/** What docker answers; `LAB_PLATFORM_REFUSED` with its words when it refuses. */
export async function docker(env: Environment, ...args: readonly string[]): Promise<string> {
  const seen = await runProgram(dockerProgram(env), args, env);
  if (seen.code !== 0) {
    throw new LabError(
      "LAB_PLATFORM_REFUSED",
      `docker ${args.slice(0, 3).join(" ")} ended with exit code ${seen.code}.${lastWords(seen)}`,
      "Read its words above.",
    );
  }
  return seen.out;
}

/** `15` -> `SIGTERM`. */
export function signalName(number: string | undefined): string {
  const found = Object.entries(constants.signals).find(([, value]) => String(value) === number);
  return found?.[0] ?? `signal ${number ?? "?"}`;
}

interface RawEvent {
  readonly Type?: string;
  readonly Action?: string;
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Readonly<Record<string, string>> };
  readonly timeNano?: number;
}

/** Null for a line that is no event. `wallMs` is the wall time of the run's time zero. */
export function parseEvent(line: string, wallMs: number): DockerEvent | null {
  try {
    const { Type, Action, Actor, timeNano } = JSON.parse(line) as RawEvent;
    return Action === undefined || Actor?.ID === undefined || timeNano === undefined
      ? null
      : {
          type: Type ?? "",
          action: Action,
          id: Actor.ID,
          attributes: Actor.Attributes ?? {},
          atMs: timeNano / 1e6 - wallMs,
        };
  } catch {
    return null;
  }
}

export interface Following {
  close(): void;
}

/** From now on; nothing that happens after the call is missed. */
export function followEvents(
  env: Environment,
  filters: readonly string[],
  clock: RunClock,
  guardian: Guardian,
  onEvent: (event: DockerEvent) => void,
): Following {
  const wallMs = Date.now() - clock.now();
  const child = spawn(
    dockerProgram(env),
    [
      "events",
      "--format",
      "{{json .}}",
      // The engine tells again what has happened since, so that its start-up hides nothing.
      "--since",
      (Date.now() / 1000).toFixed(3),
      ...filters.flatMap((filter) => ["--filter", filter]),
    ],
    { env: { ...env }, detached: true, stdio: ["ignore", "pipe", "ignore"] },
  );
  child.on("error", () => undefined); // The engine had answered a moment ago; what is missing shows as a wait that ends.
  const { pid } = child;
  if (pid !== undefined) {
    guardian.watch(pid);
  }
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = parseEvent(line, wallMs);
    if (event !== null) {
      onEvent(event);
    }
  });
  return {
    close: () => {
      if (pid !== undefined) {
        guardian.release(pid);
      }
    },
  };
}
