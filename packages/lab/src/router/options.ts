/** How a router is told to behave, as data, and which router can behave so. */

import { LabError } from "../errors.ts";

export const ROUTER_NAMES = ["embedded", "nginx", "haproxy", "caddy"] as const;
export type RouterName = (typeof ROUTER_NAMES)[number];

/**
 * Who takes a leaving copy out: the `control-plane` (the lab tells the router, after the lag), or the router by itself, which
 * asks each copy for its `readiness`.
 */
export type Removal = "control-plane" | "readiness";

/**
 * What becomes of connections to a copy when it is taken out. `closed-when-idle`: idle ones are closed, the others after their
 * answer, as an HTTP proxy does. `pinned` and `cut` are what balancers of layer 4 do, for which a client's connection is a
 * connection to one copy: it stays there until it is closed (`pinned`), or is closed at once, whatever it carries (`cut`).
 */
export type PooledAtRemoval = "closed-when-idle" | "pinned" | "cut";

export interface RouterBehaviour {
  /** Try the next upstream as nginx's `proxy_next_upstream error timeout` does: never a POST that was sent. */
  readonly retries: boolean;
  /** And a POST that was sent too, as nginx's `non_idempotent` does: what was executed may be executed again. */
  readonly retryPosts?: boolean;
  /** Pool connections to the copies (16 idle ones, HTTP/1.1). */
  readonly upstreamKeepAlive: boolean;
  /** Keep the client's connections open. */
  readonly clientKeepAlive: boolean;
  readonly removal: Removal;
  readonly pooledAtRemoval: PooledAtRemoval;
  /** The router's own questions to each copy; asked only where it removes by readiness. */
  readonly health: HealthChecks;
  /** Failures of live requests that keep a copy out for a while; null: none do. */
  readonly passive: PassiveMarks | null;
  /** Clients that speak HTTP/2 without TLS: all of them, or some beside HTTP/1.1. Absent: none. */
  readonly http2?: "only" | "beside";
  /** Clients that open WebSockets. Absent: none. */
  readonly webSockets?: boolean;
}

/** At layer 4 the copies get what the clients send; any other router speaks HTTP/1.1 to them. */
export function speaksHttp2ToCopies({
  http2,
  pooledAtRemoval,
}: Pick<RouterBehaviour, "http2" | "pooledAtRemoval">): boolean {
  return http2 !== undefined && pooledAtRemoval !== "closed-when-idle";
}

export interface HealthChecks {
  readonly path: string;
  readonly intervalMs: number;
  /** So many failures in a row take a copy out; null: the router's own (Caddy 1, the others 2). */
  readonly fall: number | null;
  /** So many successes in a row let it in again; null: 1. */
  readonly rise: number | null;
}

export interface PassiveMarks {
  readonly maxFails: number;
  /** The time in which they are counted, and for which the copy is then kept out. */
  readonly failTimeoutMs: number;
}

interface Inability {
  /** The flag that asks for it. */
  readonly flag: string;
  readonly because: string;
}

const IS_LAYER_7 = "it balances requests, not connections";

/** Null when it can do all of it. */
export function inabilityOf(router: RouterName, wanted: Omit<RouterBehaviour, "retries">): Inability | null {
  const { removal, pooledAtRemoval, health, passive, retryPosts, http2 } = wanted;
  const layer4 = pooledAtRemoval !== "closed-when-idle";
  switch (router) {
    case "embedded":
      if (passive !== null) {
        return { flag: "--max-fails", because: "it keeps no marks" };
      }
      if (http2 !== undefined && !layer4) {
        return {
          flag: "--protocol h2",
          because:
            "it speaks HTTP/1.1, and passes HTTP/2 on at layer 4 only (--pooled-at-removal pinned or cut)",
        };
      }
      return layer4 && retryPosts === true
        ? { flag: "--retry-posts", because: "it sees connections at layer 4, and no requests" }
        : null;
    case "nginx":
      if (removal === "readiness") {
        return { flag: "--removal readiness", because: "it asks no copy for its readiness" };
      }
      if (layer4) {
        return { flag: `--pooled-at-removal ${pooledAtRemoval}`, because: IS_LAYER_7 };
      }
      return http2 === "beside"
        ? {
            flag: "--protocol h2 beside HTTP/1.1",
            because: "without TLS a port of it speaks one of them",
          }
        : null;
    case "haproxy":
      if (layer4 && retryPosts === true) {
        return { flag: "--retry-posts", because: "it sees connections at layer 4, and no requests" };
      }
      return passive !== null && removal !== "readiness"
        ? {
            flag: "--max-fails",
            because: "a marked copy comes back by a health check: add --removal readiness",
          }
        : null;
    case "caddy":
      if (layer4) {
        return { flag: `--pooled-at-removal ${pooledAtRemoval}`, because: IS_LAYER_7 };
      }
      return removal === "readiness" && ((health.fall ?? 1) !== 1 || (health.rise ?? 1) !== 1)
        ? { flag: "--health-fall and --health-rise", because: "one answer takes a copy out or in" }
        : null;
  }
}

/** Throws `LAB_ROUTER_CANNOT`, which names the routers that can. */
export function assertCan(router: RouterName, wanted: Omit<RouterBehaviour, "retries">): void {
  const cannot = inabilityOf(router, wanted);
  if (cannot === null) {
    return;
  }
  const able = ROUTER_NAMES.filter((name) => inabilityOf(name, wanted) === null);
  throw new LabError(
    "LAB_ROUTER_CANNOT",
    `The router ${router} cannot do ${cannot.flag}: ${cannot.because}.`,
    able.length === 0
      ? "No router of the lab can do all that was asked for at once: drop one of the flags."
      : `Use --router ${able.join(", ").replace(/, (\w+)$/, " or $1")}, or drop the flag.`,
  );
}

/** What a run says of its router, for the ledger. */
export function parametersOf(
  behaviour: RouterBehaviour,
): Readonly<Record<string, string | number | boolean>> {
  const {
    retries,
    retryPosts,
    upstreamKeepAlive,
    clientKeepAlive,
    removal,
    pooledAtRemoval,
    health,
    passive,
    http2,
    webSockets,
  } = behaviour;
  return {
    retries,
    ...(retryPosts === true ? { retryPosts } : {}),
    upstreamKeepAlive,
    clientKeepAlive,
    removal,
    pooledAtRemoval,
    ...(removal === "readiness" ? { healthIntervalMs: health.intervalMs } : {}),
    ...(removal === "readiness" && health.fall !== null ? { healthFall: health.fall } : {}),
    ...(removal === "readiness" && health.rise !== null ? { healthRise: health.rise } : {}),
    ...(http2 === undefined ? {} : { http2 }),
    ...(webSockets === true ? { webSockets } : {}),
    ...(passive === null ? {} : { maxFails: passive.maxFails, failTimeoutMs: passive.failTimeoutMs }),
  };
}
