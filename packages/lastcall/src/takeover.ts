/**
 * `lastcall/takeover`: a rolling restart on one machine without a router, for programs of one's own; the command
 * `lastcall-takeover` is this with signals around it. docs/processes.md says how it works.
 */

import { existsSync } from "node:fs";
import { LastcallError } from "./errors.ts";
import { nodeHost } from "./node-host.ts";
import { holdActivated, startCopiesOf, type Grant } from "./node-takeover.ts";
import { readOptions } from "./options.ts";
import { platformOf } from "./platform.ts";
import type { Host } from "./host.ts";
import { TakeoverParent, type ReloadResult } from "./takeover/parent.ts";

export type { ReloadResult } from "./takeover/parent.ts";

export interface TakeoverOptions {
  /** The file of the app. */
  readonly script: string;
  readonly args?: readonly string[];
  /** For node, before the file: `--max-old-space-size=512`. Default: those of this process. */
  readonly nodeOptions?: readonly string[];
  /** How long a new copy may take to become ready, in milliseconds. Default: 30,000. */
  readonly readyTimeoutMs?: number;
}

export interface Takeover {
  /**
   * Starts a new copy of the app and, when that is ready, has the old one drain: `replaced`. `kept`: the new one came to
   * nothing, and the old one goes on serving. `stopping`: it was too late.
   */
  reload(): Promise<ReloadResult>;
  /** Passes a stop signal on to the copies; each call is one signal. */
  stop(signal?: NodeJS.Signals): void;
  /** Resolves when no copy is left, with the exit code of the one that served last. */
  readonly ended: Promise<number>;
}

const READY_TIMEOUT_MS = 30_000;

/**
 * Where @lastcall/lab is not installed, `npx lastcall check` runs the only command of this package, which is not the one that
 * was meant.
 */
function labCommand(script: string): string {
  return /^(?:budget|check|completion|lab|lag|lint|prove|report|rollout)$/.test(script)
    ? ` The command \`lastcall ${script}\` is in @lastcall/lab: npm install --save-dev @lastcall/lab.`
    : "";
}

/**
 * Starts the app and holds its listening sockets. Does not listen for signals and does not exit: that is the caller's.
 * Errors: LASTCALL_TAKEOVER_SCRIPT. `host` is the seam for tests.
 */
export function startTakeover(options: TakeoverOptions, host: Host = nodeHost()): Takeover {
  const { script, args = [], nodeOptions = [], readyTimeoutMs = READY_TIMEOUT_MS } = options;
  const file = [script, `${script}.js`, `${script}.cjs`, `${script}.mjs`].find((path) => existsSync(path));
  if (file === undefined) {
    throw new LastcallError("LASTCALL_TAKEOVER_SCRIPT", `There is no file '${script}'.${labCommand(script)}`);
  }
  let end: (exitCode: number) => void = () => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const grant = readGrant(host);
  const parent = new TakeoverParent(host, {
    gracePeriodMs: grant.gracePeriodMs,
    readyTimeoutMs,
    sockets: holdActivated(host),
    start: startCopiesOf({ script, args, nodeOptions }, grant),
    ended: (exitCode) => end(exitCode),
  });
  parent.start();
  return {
    reload: () => parent.reload(),
    stop: (signal = "SIGTERM") => parent.stop(signal),
    ended,
  };
}

/** What the platform grants to this process, which is what the copies have. */
function readGrant(host: Host): Grant {
  const platform = platformOf(host);
  const found: Grant = {
    gracePeriodMs: platform.gracePeriodMs,
    source: platform.granted ?? `default of ${platform.name}`,
  };
  try {
    const set = readOptions({}, host.env).gracePeriodMs;
    return set === undefined ? found : { gracePeriodMs: set, source: "set" };
  } catch {
    // The copies say what is wrong with the environment, and use the default.
    return found;
  }
}
