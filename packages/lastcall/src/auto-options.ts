/**
 * What auto mode reads from the environment. An impossible value must not keep an app from starting that knows nothing of
 * us: it is named, and the default is used; `LASTCALL_STRICT=1` refuses to start instead.
 */

import { planBudget } from "./budget.ts";
import { LastcallError } from "./errors.ts";
import type { Host } from "./host.ts";
import { OPTION_TABLE, readOptions, type LifecycleOptions } from "./options.ts";
import { platformOf } from "./platform.ts";
import { unpackEnvironment } from "./platform/pm2.ts";

export interface AutoOptions {
  /** `LASTCALL_FOREIGN`: the app's own stop handlers wait for the gate, or run at once. Default: `defer`. */
  readonly foreign: "defer" | "run";
  /** `LASTCALL_CLOSE_LAST_PORTS`: servers that serve until everything else is done, metrics say. */
  readonly closeLastPorts: ReadonlySet<number>;
  readonly strict: boolean;
  /**
   * The options of the lifecycle, as it reads them too. Of them `probePaths` says here where the app answers its own probes: they
   * are no work, and from the stop on its readiness says 503.
   */
  readonly life: LifecycleOptions;
  /** The environment for the lifecycle, without what cannot be used. */
  readonly env: Host["env"];
  /** One line for each value that cannot be used. */
  readonly problems: readonly string[];
}

/** The variables of the budget, which can be wrong together. */
const PARTS = [
  "LASTCALL_DRAIN_DELAY",
  "LASTCALL_GRACEFUL_TIMEOUT",
  "LASTCALL_TEARDOWN_TIMEOUT",
  "LASTCALL_TASK_TIMEOUT",
  "LASTCALL_LINGER",
  "LASTCALL_ABORT_WINDOW",
  "LASTCALL_SETTLE",
] as const;

export function readAutoOptions(host: Host): AutoOptions {
  const env: Record<string, string | undefined> = { ...unpackEnvironment(host.env) };
  const problems: string[] = [];
  const wrong = (name: string, range: string): void => {
    problems.push(
      new LastcallError("LASTCALL_ENVIRONMENT", `${name} is '${env[name]}', but must be ${range}.`).message,
    );
  };

  for (const { env: name } of Object.values(OPTION_TABLE)) {
    if (env[name] !== undefined) {
      dropIfRefused(env, [name], problems, () => void readOptions({}, { [name]: env[name] }));
    }
  }
  dropIfRefused(env, PARTS, problems, () => {
    planBudget(readOptions({}, env), platformOf({ ...host, env }));
  });

  const foreign = env["LASTCALL_FOREIGN"] || "defer";
  if (foreign !== "defer" && foreign !== "run") {
    wrong("LASTCALL_FOREIGN", "defer or run");
  }
  const ports = (env["LASTCALL_CLOSE_LAST_PORTS"] ?? "")
    .split(",")
    .filter((part) => part.trim() !== "")
    .map(Number);
  if (!ports.every((port) => Number.isInteger(port) && port > 0 && port <= 65_535)) {
    wrong("LASTCALL_CLOSE_LAST_PORTS", "ports from 1 to 65535, separated by commas");
  }
  return {
    foreign: foreign === "run" ? "run" : "defer",
    closeLastPorts: new Set(ports.filter((port) => Number.isInteger(port))),
    strict: env["LASTCALL_STRICT"] === "1",
    life: readOptions({}, env),
    env,
    problems,
  };
}

function dropIfRefused(
  env: Record<string, string | undefined>,
  names: readonly string[],
  problems: string[],
  check: () => void,
): void {
  try {
    check();
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
    for (const name of names) {
      delete env[name];
    }
  }
}
