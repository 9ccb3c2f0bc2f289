/** Caddy's configuration as a pure function: the JSON that its admin API takes. */

import { GENERATION_PATH } from "./generation.ts";
import type { RouterOptions, Upstream } from "./router.ts";

export interface CaddyFacts {
  readonly options: RouterOptions;
  readonly port: number;
  readonly upstreams: readonly Upstream[];
  /** Counts the configurations of one run. */
  readonly generation: number;
  /** The admin API's unix socket. */
  readonly socket: string;
  readonly accessFile: string;
  readonly triesFile: string;
  /** 6 of 2.6.2: some settings have other names later. */
  readonly minor: number;
}

/** Whom it asked last, also on its own 502. */
const TOLD: readonly string[] = ["{http.reverse_proxy.upstream.hostport}|-|-|-"];

function healthChecks({ removal, health, passive }: RouterOptions): object | null {
  const checks = {
    ...(removal === "readiness"
      ? {
          active: {
            uri: health.path,
            interval: `${health.intervalMs}ms`,
            timeout: `${Math.max(1000, health.intervalMs)}ms`,
            expect_status: 200,
          },
        }
      : {}),
    ...(passive === null
      ? {}
      : { passive: { max_fails: passive.maxFails, fail_duration: `${passive.failTimeoutMs}ms` } }),
  };
  return Object.keys(checks).length === 0 ? null : checks;
}

/** Without it a POST that could not be delivered is not asked again but failed: "invalid Read on closed Body" (caddy#5454, #7546). */
function buffered(minor: number): object {
  return minor < 7 ? { buffer_requests: true } : { request_buffers: -1 };
}

function proxy({ options, upstreams, minor }: CaddyFacts): object {
  const checks = healthChecks(options);
  return {
    handler: "reverse_proxy",
    ...(options.retries ? buffered(minor) : {}),
    upstreams: upstreams.map(({ host, port }) => ({ dial: `${host}:${port}` })),
    transport: {
      protocol: "http",
      versions: ["1.1"],
      dial_timeout: "5s",
      response_header_timeout: "20s",
      keep_alive: options.upstreamKeepAlive
        ? { enabled: true, max_idle_conns_per_host: 16, idle_timeout: "60s" }
        : { enabled: false },
    },
    load_balancing: {
      selection_policy: { policy: "round_robin" },
      // Caddy's own rule: what was never sent, and a GET whatever happened. Its next choice may fall on the same copy, since all
      // requests share one round; so it may choose more often than there are copies.
      ...(options.retries ? { retries: 4 * upstreams.length, try_interval: "1ms" } : {}),
      ...(options.retryPosts === true ? { retry_match: [{ method: ["GET", "POST"] }] } : {}),
    },
    ...(checks === null ? {} : { health_checks: checks }),
    headers: { response: { set: { "X-Lastcall-Upstream": TOLD } } },
  };
}

export function caddyConfig(facts: CaddyFacts): string {
  const { options, port, upstreams, generation, socket, accessFile, triesFile } = facts;
  const close = options.clientKeepAlive
    ? []
    : [{ handler: "headers", response: { set: { Connection: ["close"] } } }];
  const routes = [
    {
      match: [{ path: [GENERATION_PATH] }],
      terminal: true,
      handle: [{ handler: "static_response", status_code: 200, body: String(generation) }],
    },
    {
      handle: [
        ...close,
        upstreams.length === 0 ? { handler: "static_response", status_code: 502 } : proxy(facts),
      ],
    },
  ];
  const config = {
    admin: { listen: `unix/${socket}`, origins: ["localhost"], config: { persist: false } },
    logging: {
      logs: {
        default: {
          writer: { output: "stderr" },
          encoder: { format: "json" },
          level: "INFO",
          exclude: ["http.log.access"],
        },
        // That an old configuration stops to take connections is a remark for debugging.
        life: {
          writer: { output: "stderr" },
          encoder: { format: "json" },
          level: "DEBUG",
          include: ["http"],
          exclude: ["http.handlers", "http.log", "http.reverse_proxy"],
        },
        // So is each try at a copy.
        tries: {
          writer: { output: "file", filename: triesFile, roll: false },
          encoder: { format: "json" },
          level: "DEBUG",
          include: ["http.handlers.reverse_proxy"],
        },
        access: {
          writer: { output: "file", filename: accessFile, roll: false },
          encoder: { format: "json" },
          include: ["http.log.access.lab"],
        },
      },
    },
    apps: {
      http: {
        // Requests that the configuration before this one has begun.
        grace_period: "30s",
        servers: {
          lab: {
            listen: [`127.0.0.1:${port}`],
            automatic_https: { disable: true },
            protocols: options.http2 === undefined ? ["h1"] : ["h1", "h2c"],
            idle_timeout: "75s",
            logs: { default_logger_name: "lab" },
            routes,
            errors: {
              routes: [
                {
                  handle: [
                    ...close,
                    {
                      handler: "static_response",
                      status_code: "{http.error.status_code}",
                      // The access log has the answer's headers: so it says why, beside the id.
                      headers: {
                        "X-Lastcall-Upstream": TOLD,
                        "X-Lastcall-Error": ["{http.error.message}"],
                      },
                    },
                  ],
                },
              ],
            },
          },
        },
      },
    },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
