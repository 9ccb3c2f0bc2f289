/** Which platform this process runs on, as far as the environment tells, and what it grants from SIGTERM to SIGKILL. */

export interface Platform {
  readonly name: string;
  readonly gracePeriodMs: number;
  /** Whether a router sends requests here that learns of a stop by readiness or by the control plane. */
  readonly router: boolean;
  /** Whether probes come from another address than 127.0.0.1. */
  readonly remoteProbes: boolean;
  /** Whether the parent speaks pm2's messages: `shutdown` to us, `ready` from us. */
  readonly messages: boolean;
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
