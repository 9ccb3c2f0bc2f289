/** `lastcall check -- COMMAND`: no configuration, ten seconds, what a stop of this service does to its clients. */

import { parseDuration } from "../duration.ts";
import { compare } from "../check/compare.ts";
import { LabError } from "../errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { isBad, renderCheck } from "../render/check.ts";
import { styleFor } from "../render/style.ts";
import { startGuardian } from "../target/guardian.ts";
import type { Command, Io } from "./command.ts";
import { readFlags } from "./flags.ts";
import { isatty } from "node:tty";

const FLAGS = {
  route: "string",
  slow: "string",
  ready: "string",
  signal: "string",
  patience: "string",
  "ready-timeout": "string",
  json: "boolean",
  "no-color": "boolean",
  help: "boolean",
} as const;

const HELP = `Usage: lastcall check [options] -- COMMAND...

Starts your service, stops it while clients are busy, and shows what they saw: a request in
flight, requests half sent, connections from a pool, new connections, the exit. Then the same with
lastcall, where it runs on Node, and the line to paste. No configuration: the port and a route are
found by looking (PORT and {port} are offered).

Options
  --route PATH         an ordinary GET route (tried: /, /health, /healthz, /ping, /livez)
  --slow PATH          a GET route that takes about a second, to have a request in flight
  --ready PATH         readiness (found if it is /readyz, /ready or /health/ready)
  --signal NAME        SIGTERM
  --patience TIME      SIGKILL after this (6s)
  --ready-timeout TIME (15s)
  --json               what was seen, on standard output
  --no-color           as NO_COLOR

Exit codes: 0 the stop of today loses nothing, 1 it does, 2 wrong usage, 3 could not run,
130 interrupted.
`;

const ROUTES = ["/", "/health", "/healthz", "/ping", "/livez", "/status"];
const READY_PATHS = ["/readyz", "/ready", "/health/ready"];
/** More than the second during which we knock, and than the drain delay that the second run has. */
const DEFAULT_PATIENCE_MS = 6000;

/** Ten minutes, as `lastcall rollout --grace`. */
const MOST_MS = 600_000;

type Values = Readonly<Record<string, string | boolean>>;

function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

function duration(values: Values, name: string, otherwise: number): number {
  const given = text(values, name);
  const parsed = given === undefined ? otherwise : parseDuration(given);
  if (parsed === null || parsed <= 0) {
    throw new LabError("LAB_OPTION", `--${name} is '${given}'.`, "Write a duration such as 500ms, 5s or 1m.");
  }
  if (parsed > MOST_MS) {
    throw new LabError("LAB_OPTION", `--${name} ${given} is out of range.`, "It may be at most 10m.");
  }
  return parsed;
}

function path(values: Values, name: string): string | undefined {
  const given = text(values, name);
  if (given !== undefined && !given.startsWith("/")) {
    throw new LabError("LAB_OPTION", `--${name} is '${given}'.`, `A path begins with /: --${name} /${given}`);
  }
  return given;
}

function signalName(values: Values): NodeJS.Signals {
  const given = text(values, "signal") ?? "SIGTERM";
  if (!/^SIG(?:TERM|INT|QUIT|HUP|USR1|USR2)$/.test(given)) {
    throw new LabError(
      "LAB_OPTION",
      `--signal is '${given}'.`,
      "Stop signals are SIGTERM, SIGINT, SIGQUIT, SIGHUP.",
    );
  }
  return given as NodeJS.Signals;
}

async function run(args: readonly string[], io: Io): Promise<ExitCode> {
  const { values, command } = readFlags("check", args, FLAGS);
  if (values["help"] === true) {
    io.out(HELP);
    return EXIT.pass;
  }
  if (command === undefined || command.length === 0) {
    throw new LabError(
      "LAB_USAGE",
      "lastcall check needs a command to run.",
      "For example: lastcall check -- node app.js",
    );
  }
  const route = path(values, "route");
  const ready = path(values, "ready");
  const signal = signalName(values);
  const watch = {
    signal,
    slow: path(values, "slow") ?? null,
    patienceMs: duration(values, "patience", DEFAULT_PATIENCE_MS),
  };
  const spec = {
    command,
    env: io.env,
    cwd: io.cwd,
    routes: route === undefined ? ROUTES : [route],
    readyPaths: ready === undefined ? READY_PATHS : [ready],
    adminPort: null,
    readyTimeoutMs: duration(values, "ready-timeout", 15_000),
  };
  const guardian = startGuardian();
  const interrupted = new Promise<"interrupted">((resolve) => {
    io.interrupted.addEventListener("abort", () => resolve("interrupted"), { once: true });
  });
  try {
    const comparing = compare(spec, watch, guardian, (phase) => io.err(`checking ${phase} ...\n`));
    const comparison = await Promise.race([comparing, interrupted]);
    if (comparison === "interrupted") {
      comparing.catch(() => undefined); // Its service is killed below; what it says of that is no news.
      return EXIT.interrupted;
    }
    if (values["json"] === true) {
      io.out(`${JSON.stringify({ schema: "lastcall.check/1", signal, ...comparison }, null, 2)}\n`);
    } else {
      const style = styleFor(isatty(1), values["no-color"] === true, io.env);
      io.out(renderCheck(comparison, signal, style));
    }
    return isBad(comparison.today.observation) ? EXIT.failed : EXIT.pass;
  } finally {
    guardian.close();
  }
}

export const checkCommand: Command = {
  summary: "what your service does today on SIGTERM, and what it would do with lastcall",
  run,
};
