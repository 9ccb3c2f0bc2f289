/** A service of which nothing is known but its command: started, its port and a route found by looking. */

import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { LabError } from "../errors.ts";
import { startChild } from "../target/child.ts";
import { fillCommand } from "../target/copy.ts";
import { killGroup, type Guardian } from "../target/guardian.ts";
import { portFinder } from "../target/free-port.ts";
import { lastWords } from "../target/last-words.ts";
import { probe } from "../target/readiness.ts";
import { listeningPorts } from "../target/listening.ts";
import { adviceOnEnd } from "../target/start-advice.ts";

export interface ServiceSpec {
  /** May hold `{port}`; PORT is set as well. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Routes to try, the likeliest first. */
  readonly routes: readonly string[];
  /** Readiness paths to try on the same port. */
  readonly readyPaths: readonly string[];
  /** A port of its own for the probes, where we know of one: readiness is asked there. */
  readonly adminPort: number | null;
  readonly readyTimeoutMs: number;
}

export interface ProbePlace {
  readonly port: number;
  readonly path: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly atMs: number;
}

export interface Service {
  readonly pid: number;
  readonly port: number;
  /** The route that answered, and its status. */
  readonly route: string;
  readonly status: number;
  /** Where readiness answered 200; null when no path was found. */
  readonly readiness: ProbePlace | null;
  /** How long it took from the start until it answered. */
  readonly startMs: number;
  readonly exited: Promise<Exit>;
  exit(): Exit | null;
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** Whether processes of its group are still there: a wrapper may have left the service behind. */
  leftovers(): readonly number[];
  end(): Promise<void>;
}

const POLL_MS = 25;
const OUTPUT_BYTES = 64 * 1024;

/** Any answer below 500 is an answer; 2xx and 3xx are better. */
async function findRoute(port: number, routes: readonly string[]): Promise<readonly [string, number] | null> {
  let second: readonly [string, number] | null = null;
  for (const route of routes) {
    const seen = await probe(port, route, 1000);
    if (typeof seen !== "number") {
      return null;
    }
    if (seen < 400) {
      return [route, seen];
    }
    second ??= seen < 500 ? [route, seen] : null;
  }
  return second;
}

async function findReadiness(port: number, spec: ServiceSpec): Promise<ProbePlace | null> {
  const places = [
    ...(spec.adminPort === null ? [] : [{ port: spec.adminPort, path: "/readyz" }]),
    ...spec.readyPaths.map((path) => ({ port, path })),
  ];
  for (const place of places) {
    // A service that answers 200 to everything has no readiness.
    const anything = await probe(place.port, "/lastcall/no-such-path", 1000);
    if (anything !== 200 && (await probe(place.port, place.path, 1000)) === 200) {
      return place;
    }
  }
  return null;
}

/** Why nothing was found: what listens, where we asked, and what came. */
async function whyNothing(given: number, group: number, route: string): Promise<readonly [string, string]> {
  const [port] = listeningPorts(group);
  if (port === undefined) {
    return [
      `It listens on no port (PORT was ${given}).`,
      "Let it listen on PORT (or {port} in the command), or raise --ready-timeout.",
    ];
  }
  const seen = await probe(port, route, 1000);
  return typeof seen === "number"
    ? [
        `It listens on port ${port}, where GET ${route} gives ${seen}.`,
        "Name a route that answers with --route.",
      ]
    : [
        `It listens on port ${port}, where GET http://127.0.0.1:${port}${route} gives ${seen}.`,
        "Let it speak plain HTTP on 127.0.0.1 (an address such as ::1 is another one), or name a route with --route.",
      ];
}

export async function startService(spec: ServiceSpec, guardian: Guardian): Promise<Service> {
  const given = await portFinder()();
  const startedMs = performance.now();
  const command = fillCommand(spec.command, { port: String(given) });
  const env = { ...spec.env, PORT: String(given) };
  const { pid, process: child } = await startChild({ command, env, cwd: spec.cwd }, guardian);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-OUTPUT_BYTES);
    });
  }
  let ended: Exit | null = null;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      ended = { code, signal, atMs: performance.now() };
      resolve(ended);
    });
  });
  const end = async (): Promise<void> => {
    guardian.release(pid);
    killGroup(pid);
    await exited;
  };

  while (performance.now() - startedMs < spec.readyTimeoutMs) {
    if ((ended as Exit | null) !== null) {
      await sleep(POLL_MS); // Its last lines may still be on their way.
      await end();
      const { code, signal } = await exited;
      throw new LabError(
        "LAB_TARGET_DIED",
        `The service ended (${signal ?? `exit code ${code}`}) before it answered.${lastWords(output.split("\n"))}`,
        adviceOnEnd({ code }, output, {
          taken:
            "Its port is taken: stop what listens there, or let it listen on PORT (or {port} in the command).",
          otherwise: "Run the command by hand with PORT set and see that it stays.",
        }),
      );
    }
    for (const port of new Set([given, ...listeningPorts(pid)])) {
      if (port === spec.adminPort) {
        continue;
      }
      const found = await findRoute(port, spec.routes);
      if (found !== null) {
        return {
          pid,
          port,
          route: found[0],
          status: found[1],
          startMs: performance.now() - startedMs,
          readiness: await findReadiness(port, spec),
          exited,
          exit: () => ended,
          output: () => output,
          signal: (name) => void child.kill(name),
          leftovers: () => listeningPorts(pid),
          end,
        };
      }
    }
    await sleep(POLL_MS);
  }
  const [why, next] = await whyNothing(given, pid, spec.routes[0] ?? "/");
  await end();
  throw new LabError(
    "LAB_TARGET_NOT_READY",
    `The service answered nothing within ${spec.readyTimeoutMs / 1000} s. ${why}${lastWords(output.split("\n"))}`,
    next,
  );
}
