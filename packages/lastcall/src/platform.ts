/** Which platform this process runs on, as far as the environment tells, and what it grants from SIGTERM to SIGKILL. */

export interface Platform {
  readonly name: string;
  readonly gracePeriodMs: number;
  /** Whether a router sends requests here that learns of a stop by readiness or by the control plane. */
  readonly router: boolean;
  /** Whether probes come from another address than 127.0.0.1. */
  readonly remoteProbes: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The defaults that each platform documents: Kubernetes `terminationGracePeriodSeconds` 30, Cloud Run 10 s, Docker and
 * Podman `stop` 10 s, pm2 `kill_timeout` 1600 ms. None of them tells the process when it is set to something else.
 */
export function detectPlatform(env: Env, fileExists: (path: string) => boolean): Platform {
  if (env["KUBERNETES_SERVICE_HOST"]) {
    return { name: "Kubernetes", gracePeriodMs: 30_000, router: true, remoteProbes: true };
  }
  if (env["K_SERVICE"] && env["K_REVISION"]) {
    return { name: "Cloud Run", gracePeriodMs: 10_000, router: true, remoteProbes: true };
  }
  if (env["DOCKER_SWARM_SERVICE"]) {
    // Swarm tells its tasks nothing; a service template can: --env DOCKER_SWARM_SERVICE={{.Service.Name}}.
    return { name: "Swarm", gracePeriodMs: 10_000, router: true, remoteProbes: true };
  }
  if (env["pm_id"] !== undefined || env["PM2_USAGE"] !== undefined) {
    return { name: "pm2", gracePeriodMs: 1600, router: false, remoteProbes: false };
  }
  if (fileExists("/.dockerenv") || fileExists("/run/.containerenv")) {
    return { name: "a container", gracePeriodMs: 10_000, router: false, remoteProbes: true };
  }
  return { name: "no known platform", gracePeriodMs: 10_000, router: false, remoteProbes: false };
}
