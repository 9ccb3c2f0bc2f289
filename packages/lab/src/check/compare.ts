/** What a stop does today and what it would do with lastcall: the same stop twice, and the line to paste. */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";
import { portFinder } from "../target/free-port.ts";
import type { Guardian } from "../target/guardian.ts";
import { observeStop, type Observation, type Watch } from "./observe.ts";
import { startService, type Service, type ServiceSpec } from "./service.ts";

export interface Seen {
  readonly observation: Observation;
  readonly port: number;
  readonly route: string;
  readonly status: number;
  readonly startMs: number;
}

export interface Comparison {
  readonly today: Seen;
  /** Null where lastcall could not be loaded into the service; `why` says so. */
  readonly withLastcall: Seen | null;
  readonly why: string | null;
  /** The command with lastcall in it, as one would write it. */
  readonly paste: string;
}

/** The drain delay that the second stop runs with: longer than most things here need, short enough to wait for. */
export const CHECK_DRAIN_DELAY = "1s";

export const RUNS_ALREADY = "it runs with lastcall already, so this is what it does";

/** A service for as long as `use` takes. */
async function during<Result>(
  spec: ServiceSpec,
  guardian: Guardian,
  use: (service: Service) => Promise<Result>,
): Promise<Result> {
  const service = await startService(spec, guardian);
  try {
    return await use(service);
  } finally {
    await service.end();
  }
}

async function see(service: Service, watch: Watch): Promise<Seen> {
  const { port, route, status, startMs } = service;
  return { observation: await observeStop(service, watch), port, route, status, startMs };
}

/** The library's own lines tell that it is there: a service that is not Node starts just as well. */
function runsLastcall(service: Service): boolean {
  return service.output().includes("lastcall: ");
}

/** `lastcall/auto` of the user's project if it has one, else of the lab. */
export function findAuto(cwd: string): string | null {
  for (const from of [path.join(cwd, "package.json"), import.meta.url]) {
    try {
      return pathToFileURL(createRequire(from).resolve("lastcall/auto")).href;
    } catch {
      // Not installed there.
    }
  }
  return null;
}

/** Puts the import where a person would: behind `node`; behind any wrapper through NODE_OPTIONS. */
export function withAuto(
  command: readonly string[],
  auto: string,
): { readonly command: readonly string[]; readonly nodeOptions: string | null } {
  const [program = "", ...args] = command;
  return /^node(?:\.exe)?$/.test(path.basename(program))
    ? { command: [program, "--import", auto, ...args], nodeOptions: null }
    : { command, nodeOptions: `--import=${auto}` };
}

/** A word as a shell wants it. */
function quote(word: string): string {
  return /^[\w@%+=:,./{}-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

export function pasteLine(command: readonly string[]): string {
  const { command: shown, nodeOptions } = withAuto(command, "lastcall/auto");
  const words = shown.map(quote).join(" ");
  return nodeOptions === null ? words : `NODE_OPTIONS=${nodeOptions} ${words}`;
}

export async function compare(
  spec: ServiceSpec,
  watch: Watch,
  guardian: Guardian,
  onPhase: (phase: string) => void,
): Promise<Comparison> {
  onPhase("your service as it is");
  const [today, isThere] = await during(
    spec,
    guardian,
    async (service) => [await see(service, watch), runsLastcall(service)] as const,
  );
  const paste = pasteLine(spec.command);
  if (isThere) {
    return {
      today,
      withLastcall: null,
      why: RUNS_ALREADY,
      paste,
    };
  }
  const auto = findAuto(spec.cwd);
  if (auto === null) {
    return { today, withLastcall: null, why: "lastcall is not installed here: npm install lastcall", paste };
  }
  onPhase("the same service with lastcall");
  const loaded = withAuto(spec.command, auto);
  const nodeOptions = [spec.env["NODE_OPTIONS"], loaded.nodeOptions].filter(Boolean).join(" ");
  const adminPort = Number(spec.env["LASTCALL_ADMIN_PORT"] ?? (await portFinder()()));
  const env = {
    LASTCALL_DRAIN_DELAY: CHECK_DRAIN_DELAY,
    LASTCALL_ADMIN_PORT: String(adminPort),
    ...spec.env,
    ...(nodeOptions === "" ? {} : { NODE_OPTIONS: nodeOptions }),
  };
  const after = await during(
    { ...spec, command: loaded.command, env, adminPort },
    guardian,
    async (service) => (runsLastcall(service) ? see(service, watch) : null),
  );
  const why = after === null ? "this does not run on Node, so the library cannot be loaded into it" : null;
  return { today, withLastcall: after, why, paste };
}
