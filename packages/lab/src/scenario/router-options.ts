/** The flags of the router -> how it is to behave. Pure: every wrong or contradictory value ends here. */

import type { RouterBehaviour } from "../router/options.ts";
import { duration, number, oneOf, refuse } from "./option-values.ts";
import type { RolloutOptions } from "./rollout-options.ts";

const DEFAULT_INTERVAL_MS = 500;
/** nginx's own. */
const DEFAULT_FAIL_TIMEOUT_MS = 10_000;

export function routerBehaviour(
  options: RolloutOptions,
  readyPath: string,
  speech: Pick<RouterBehaviour, "http2" | "webSockets"> = {},
): RouterBehaviour {
  const removal = oneOf("removal", options.removal, ["control-plane", "readiness"]) ?? "control-plane";
  const pooledAtRemoval =
    oneOf("pooled-at-removal", options["pooled-at-removal"], ["closed-when-idle", "pinned", "cut"]) ??
    "closed-when-idle";
  if (removal === "readiness") {
    if (speech.http2 === "only" && pooledAtRemoval !== "closed-when-idle") {
      refuse(
        "--removal readiness asks by HTTP/1.1, and at layer 4 the copies are spoken to by HTTP/2.",
        "Drop one of --removal, --pooled-at-removal and --protocol h2.",
      );
    }
    if (options.propagation !== undefined) {
      refuse(
        "--propagation says how late the control plane is, and --removal readiness has none.",
        "Set the router's own lag with --health-interval and --health-fall.",
      );
    }
    if (options.order === "remove-first") {
      refuse(
        "--order remove-first is a control plane's order: by readiness a copy is taken out after its stop signal.",
        "Drop one of them.",
      );
    }
  } else {
    const health = (["health-interval", "health-fall", "health-rise"] as const).find(
      (name) => options[name] !== undefined,
    );
    if (health !== undefined) {
      refuse(`--${health} belongs to a router that asks for readiness.`, "Add --removal readiness.");
    }
  }
  if (options["fail-timeout"] !== undefined && options["max-fails"] === undefined) {
    refuse("--fail-timeout has no --max-fails to go with.", "Add --max-fails N, or drop it.");
  }
  if (options["retry-posts"] === true && options.retries !== true) {
    refuse("--retry-posts goes beyond --retries, which is not asked for.", "Add --retries, or drop it.");
  }
  const count = (flag: "health-fall" | "health-rise"): number | null =>
    options[flag] === undefined ? null : number(flag, options[flag], 1, 1, 20);
  return {
    retries: options.retries === true,
    retryPosts: options["retry-posts"] === true,
    upstreamKeepAlive: options["upstream-keepalive"] === true,
    // A session of HTTP/2 is there to be kept.
    clientKeepAlive: options["client-keepalive"] === true || speech.http2 !== undefined,
    removal,
    pooledAtRemoval,
    health: {
      path: readyPath,
      intervalMs: duration("health-interval", options["health-interval"], DEFAULT_INTERVAL_MS, 50, 60_000),
      fall: count("health-fall"),
      rise: count("health-rise"),
    },
    passive:
      options["max-fails"] === undefined
        ? null
        : {
            maxFails: number("max-fails", options["max-fails"], 1, 1, 100),
            failTimeoutMs: duration(
              "fail-timeout",
              options["fail-timeout"],
              DEFAULT_FAIL_TIMEOUT_MS,
              1000,
              600_000,
            ),
          },
    ...speech,
  };
}
