/** What the service itself spends after SIGTERM, from the nearest place that says so. Unknown stays undefined. */

import type { AppSource } from "../parse/app-budget.ts";
import { goDuration, type Origin, type Time } from "../time.ts";
import { programOf, type Link } from "./link.ts";
import type { BudgetSetting } from "./settings.ts";
import type { EnvValue, Parts } from "./workload.ts";

export const NO_PARTS: Parts = {
  drainDelay: undefined,
  graceful: undefined,
  teardown: undefined,
  whole: undefined,
  chosen: true,
};

interface Sources {
  readonly said: BudgetSetting | undefined;
  readonly environment: ReadonlyMap<string, EnvValue>;
  readonly sources: readonly AppSource[];
  readonly chain: readonly Link[];
}

export function partsOf({ said, environment, sources, chain }: Sources): Parts {
  const fromEnv = (name: string): Time | undefined => {
    const found = environment.get(name);
    const ms = found === undefined ? undefined : goDuration(found.value);
    return found === undefined || ms === undefined
      ? undefined
      : { ms, origin: { kind: "file", at: found.at } };
  };
  const literal = onlyBudget(sources);
  const drainDelay = said?.drainDelay ?? fromEnv("LASTCALL_DRAIN_DELAY") ?? literal?.get("drainDelayMs");
  const graceful =
    said?.gracefulTimeout ?? fromEnv("LASTCALL_GRACEFUL_TIMEOUT") ?? literal?.get("gracefulTimeoutMs");
  const teardown =
    said?.teardownTimeout ?? fromEnv("LASTCALL_TEARDOWN_TIMEOUT") ?? literal?.get("teardownTimeoutMs");
  const whole = fromEnv("LASTCALL_GRACE_PERIOD") ?? literal?.get("gracePeriodMs");
  if (drainDelay ?? graceful ?? teardown) {
    return { drainDelay, graceful, teardown, whole: undefined, chosen: true };
  }
  if (whole !== undefined) {
    return { ...NO_PARTS, whole };
  }
  const server = serverTimeout(chain);
  return server === undefined ? NO_PARTS : { ...NO_PARTS, graceful: server.time, chosen: server.chosen };
}

/** The options of the one source that has any; two that differ leave it unknown. */
function onlyBudget(sources: readonly AppSource[]): ReadonlyMap<string, Time> | undefined {
  const found = sources.filter(({ options }) => options.size > 0);
  return found.length === 1 ? found[0]?.options : undefined;
}

interface Server {
  /** Flags that set the time, in seconds. */
  readonly flags: readonly string[];
  readonly defaultMs: number | undefined;
  readonly of: string;
}

/** Servers whose own wait for requests is documented. */
const SERVERS: Readonly<Record<string, Server>> = {
  gunicorn: { flags: ["--graceful-timeout"], defaultMs: 30_000, of: "gunicorn (graceful_timeout)" },
  sidekiq: { flags: ["-t", "--timeout"], defaultMs: 25_000, of: "sidekiq (timeout)" },
  uvicorn: { flags: ["--timeout-graceful-shutdown"], defaultMs: undefined, of: "uvicorn" },
  hypercorn: { flags: ["--graceful-timeout"], defaultMs: undefined, of: "hypercorn" },
};

function serverTimeout(chain: readonly Link[]): { time: Time; chosen: boolean } | undefined {
  const program = programOf(chain);
  const words = program?.words ?? [];
  // `bundle exec sidekiq`, `python -m gunicorn`, `poetry run gunicorn`.
  const index = words
    .slice(0, 4)
    .findIndex(({ text }) => SERVERS[text.slice(text.lastIndexOf("/") + 1)] !== undefined);
  const name = words[index]?.text ?? "";
  const server = SERVERS[name.slice(name.lastIndexOf("/") + 1)];
  if (server === undefined) {
    return undefined;
  }
  for (const [at, word] of words.entries()) {
    const [flag = "", inline] = word.text.split("=", 2);
    if (at > index && server.flags.includes(flag)) {
      const value = Number(inline ?? words[at + 1]?.text);
      const origin: Origin = { kind: "file", at: word.at };
      return Number.isFinite(value) ? { time: { ms: value * 1000, origin }, chosen: true } : undefined;
    }
  }
  // A configuration file may say otherwise.
  if (words.some(({ text }) => /^(-c|--config)(=|$)/.test(text)) && name.endsWith("gunicorn")) {
    return undefined;
  }
  return server.defaultMs === undefined
    ? undefined
    : { time: { ms: server.defaultMs, origin: { kind: "default", of: server.of } }, chosen: false };
}
