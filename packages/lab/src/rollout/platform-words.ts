/**
 * What to change, in the words of the platform: from the numbers of a verdict and its kinds to the lines of a manifest, a unit or
 * an ecosystem file. Pure; the sums are those of `lastcall budget --emit`.
 */

import { environment, short, size, sumText, type Sized } from "../lint/emit/numbers.ts";
import type { Platform } from "../scenario/platforms.ts";
import type { KindSlug } from "../verdict/kinds.ts";
import type { Verdict } from "../verdict/verdict.ts";

export interface PlatformAdvice {
  readonly platform: Platform;
  /** `drain delay 2s + graceful timeout 1s + ...`. */
  readonly sum: string;
  readonly lines: readonly PlatformLine[];
  /** Writes the whole file with these numbers; null where there is no emitter for the platform. */
  readonly emit: string | null;
}

export interface PlatformLine {
  /** As it stands in the file. */
  readonly text: string;
  /** What it does, or which kind asks for it. */
  readonly why: string;
}

/** What a line is for: the kinds that ask for it; `always` where the numbers do. */
interface Entry extends PlatformLine {
  readonly for: "always" | readonly KindSlug[];
}

/** Kinds that a delay between "not ready" and the first refusal cures. */
const DELAY: readonly KindSlug[] = [
  "closed-door",
  "refused-by-gate",
  "masked-by-retry",
  "not-retried",
  "accept-queue",
];
const SIGNAL: readonly KindSlug[] = ["wrapper", "ignored-signal"];
const READINESS: readonly KindSlug[] = ["not-ready-yet", "readiness-constant"];
const SURGE: readonly KindSlug[] = ["too-few-copies", "outage"];

function seconds(ms: number): number {
  return ms / 1000;
}

const ENTRIES: Readonly<Record<Platform, (sized: Sized) => readonly Entry[]>> = {
  kubernetes: (sized) => [
    {
      for: "always",
      text: `terminationGracePeriodSeconds: ${seconds(sized.gracePeriodMs)}`,
      why: "the sum, and a margin; a preStop hook spends from it too",
    },
    {
      for: DELAY,
      text: `lifecycle: { preStop: { sleep: { seconds: ${seconds(sized.drainDelayMs)} } } }`,
      why: "SIGTERM comes when the router has let go; or let the service wait itself (LASTCALL_DRAIN_DELAY), never both",
    },
    {
      for: SIGNAL,
      text: 'command: ["node", "app.js"]',
      why: "the process itself, no shell and no npm, so that it gets SIGTERM",
    },
    {
      for: READINESS,
      text: "readinessProbe: { httpGet: { path: /readyz, port: http }, periodSeconds: 2, failureThreshold: 1 }",
      why: "200 only when it can serve, 503 from SIGTERM on",
    },
    {
      for: ["liveness-fails"],
      text: "livenessProbe: { httpGet: { path: /livez, port: http } }",
      why: "another path than readiness: a draining copy is alive",
    },
    {
      for: ["cold-copy"],
      text: `minReadySeconds: ${Math.max(5, seconds(sized.startMs))}`,
      why: "the old copy stays until the new one is warm",
    },
    {
      for: SURGE,
      text: "strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }",
      why: "the new copy comes before the old one goes",
    },
  ],
  compose: (sized) => [
    {
      for: "always",
      text: `stop_grace_period: ${short(sized.gracePeriodMs)}`,
      why: "the sum, and a margin; the default is 10 s",
    },
    {
      for: DELAY,
      text: `environment: { LASTCALL_DRAIN_DELAY: ${short(sized.drainDelayMs)} }`,
      why: "Compose has no hook before SIGTERM: the service waits itself",
    },
    {
      for: SIGNAL,
      text: 'command: ["node", "app.js"]',
      why: "a list, no string: a string is run by a shell",
    },
    { for: ["ignored-signal"], text: "init: true", why: "PID 1 has no default for SIGTERM" },
    {
      for: READINESS,
      text: "healthcheck: { test: [...], interval: 2s, retries: 1 }",
      why: "healthy only when it can serve",
    },
    {
      for: [...SURGE, "cold-copy"],
      text: "deploy: { update_config: { order: start-first } }",
      why: "the new task is healthy before the old one stops",
    },
  ],
  systemd: (sized) => [
    {
      for: "always",
      text: `TimeoutStopSec=${short(sized.gracePeriodMs)}`,
      why: "the sum, and a margin; SIGKILL comes after it",
    },
    {
      for: DELAY,
      text: `Environment=LASTCALL_DRAIN_DELAY=${short(sized.drainDelayMs)}`,
      why: "the service waits itself; without it: ExecStop=/bin/sleep, which runs before SIGTERM and spends from TimeoutStopSec",
    },
    {
      for: SIGNAL,
      text: "ExecStart=/usr/bin/node /srv/app/app.js",
      why: "no shell and no npm; with a wrapper the signal goes to it",
    },
    { for: SIGNAL, text: "KillMode=mixed", why: "SIGTERM to the main process, SIGKILL to all that is left" },
    { for: READINESS, text: "Type=notify", why: "started means ready only when the service says so" },
    {
      for: SURGE,
      text: "Two units, restarted one after the other",
      why: "a unit cannot be replaced before it is stopped",
    },
  ],
  pm2: (sized) => [
    {
      for: "always",
      text: `kill_timeout: ${sized.gracePeriodMs}`,
      why: "milliseconds until SIGKILL; the default is 1,600",
    },
    {
      for: DELAY,
      text: `env: { LASTCALL_DRAIN_DELAY: "${short(sized.drainDelayMs)}" }`,
      why: "pm2 has no hook before the signal: the service waits itself",
    },
    { for: SIGNAL, text: 'script: "app.js"', why: "not `npm start`: the signal would go to npm" },
    {
      for: READINESS,
      text: `wait_ready: true, listen_timeout: ${Math.max(3000, sized.startMs * 3)}`,
      why: 'ready when the process says process.send("ready")',
    },
    {
      for: SURGE,
      text: 'exec_mode: "cluster", instances: 2',
      why: "pm2 reload replaces one after the other",
    },
  ],
  plain: (sized) => [
    ...environment(sized).map(([name, value]): Entry => ({
      for: "always",
      text: `${name}=${value}`,
      why: "",
    })),
    {
      for: SIGNAL,
      text: "exec node app.js",
      why: "in a start script: the process takes the shell's place and gets its signals",
    },
    { for: READINESS, text: "GET /readyz", why: "200 only when it can serve, 503 from the stop signal on" },
  ],
};

const EMITTED: ReadonlySet<Platform> = new Set(["kubernetes", "compose", "systemd"]);

/** Null where the run could not measure enough to set anything. */
export function platformAdvice(verdict: Verdict, platform: Platform): PlatformAdvice | null {
  const { startMs, settings } = verdict.advice;
  if (settings.drainDelayMs === null || settings.gracefulTimeoutMs === null) {
    return null;
  }
  // With the verdict's margins: what was measured once is not the worst that there is.
  const measured = {
    routerLagMs: settings.drainDelayMs,
    longestRequestMs: settings.gracefulTimeoutMs,
    teardownMs: settings.teardownTimeoutMs ?? 0,
    startMs: Math.ceil((startMs ?? 0) / 100) * 100,
  };
  const sized = size({ ...measured, name: "app", image: "app:1", port: 8080 });
  const asked = new Set<string>(verdict.kinds.map((kind) => kind.slug));
  const lines = ENTRIES[platform](sized)
    .filter((entry) => entry.for === "always" || entry.for.some((slug) => asked.has(slug)))
    .map(({ text, why }) => ({ text, why }));
  return {
    platform,
    sum: sumText(sized),
    lines,
    emit: EMITTED.has(platform)
      ? `lastcall budget --emit ${platform} --router-lag ${short(measured.routerLagMs)} --longest-request ${short(measured.longestRequestMs)} --teardown ${short(measured.teardownMs)} --start ${short(measured.startMs)}`
      : null,
  };
}
