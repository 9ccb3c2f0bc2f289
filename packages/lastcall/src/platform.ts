/** Which platform this process runs on, as far as the environment tells, and what it grants from SIGTERM to SIGKILL. */

import type { Host } from "./host.ts";
import { readTimeSpan } from "./platform/systemd.ts";
import { TAKEOVER_KEY, type TakeoverCopy } from "./registry.ts";

export interface Platform {
  readonly name: string;
  readonly gracePeriodMs: number;
  /** Whether a router sends requests here that learns of a stop by readiness or by the control plane. */
  readonly router: boolean;
  /** Whether probes come from another address than 127.0.0.1. */
  readonly remoteProbes: boolean;
  /** Whether the parent speaks pm2's messages: `shutdown` to us, `ready` from us. */
  readonly messages: boolean;
  /** How the grace period is known, where it is more than the platform's default. */
  readonly granted?: string;
}

/** What systemd's own default is, for a unit without a limit. */
const SYSTEMD_DEFAULT_MS = 90_000;

/** The platform of this process, with the grace period that it was told rather than a default, where somebody told it. */
export function platformOf({ env, facts, registry }: Pick<Host, "env" | "facts" | "registry">): Platform {
  const found = detectPlatform(env, facts.fileExists);
  const takeover = registry[TAKEOVER_KEY] as TakeoverCopy | undefined;
  if (takeover !== undefined) {
    return { ...found, gracePeriodMs: takeover.gracePeriodMs, granted: takeover.source };
  }
  const unit = facts.systemdUnit();
  if (unit === null) {
    return found;
  }
  const limit = unit.timeoutStop === null ? null : readTimeSpan(unit.timeoutStop);
  if (limit === null || limit === 0) {
    return { ...found, granted: `default; systemd did not tell TimeoutStopSec of ${unit.name}` };
  }
  return limit === Number.POSITIVE_INFINITY
    ? {
        ...found,
        gracePeriodMs: SYSTEMD_DEFAULT_MS,
        granted: `systemd's default; TimeoutStopSec of ${unit.name} is infinity`,
      }
    : { ...found, gracePeriodMs: limit, granted: `TimeoutStopSec of ${unit.name}` };
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The defaults that each platform documents: Kubernetes `terminationGracePeriodSeconds` 30, Cloud Run 10 s, Docker and
 * Podman `stop` 10 s, pm2 `kill_timeout` 1600 ms. Only pm2 tells the process when it is set to something else.
 */
export function detectPlatform(env: Env, fileExists: (path: string) => boolean): Platform {
  const known = (name: string, gracePeriodMs: number, more: Partial<Platform> = {}): Platform => {
    return { name, gracePeriodMs, router: false, remoteProbes: false, messages: false, ...more };
  };
  const orchestrated = { router: true, remoteProbes: true };
  if (env["KUBERNETES_SERVICE_HOST"]) {
    return known("Kubernetes", 30_000, orchestrated);
  }
  if (env["K_SERVICE"] && env["K_REVISION"]) {
    return known("Cloud Run", 10_000, orchestrated);
  }
  if (env["DOCKER_SWARM_SERVICE"]) {
    // Swarm tells its tasks nothing; a service template can: --env DOCKER_SWARM_SERVICE={{.Service.Name}}.
    return known("Swarm", 10_000, orchestrated);
  }
  if (env["pm_id"] !== undefined || env["PM2_USAGE"] !== undefined) {
    // pm2 puts a process's own configuration into its environment.
    const told = Number(env["kill_timeout"] ?? "");
    return known("pm2", told > 0 ? told : 1600, { messages: true });
  }
  if (fileExists("/.dockerenv") || fileExists("/run/.containerenv")) {
    return known("a container", 10_000, { remoteProbes: true });
  }
  return known("no known platform", 10_000);
}
