/**
 * What `--platform` and its own flags ask for: in whose words the advice is given; and, for Compose and Swarm, a service
 * that they start and stop instead of the lab. With a command of one's own Compose lends its words alone.
 */

import { PLATFORMS, type Platform } from "./platforms.ts";
import { number, oneOf, refuse } from "./option-values.ts";
import type { Service } from "./plan.ts";
import type { RolloutOptions } from "./rollout-options.ts";

type OnPlatform = Extract<Service, { readonly kind: "compose" | "swarm" }>;

/** Flags that say what the platform itself says, or a command. */
const NOT_ON_A_PLATFORM = [
  "command",
  "explain",
  "controls",
  "build",
  "grace",
  "drain-delay",
  "scenario",
  "all",
] as const;
/** The router is the swarm's own, and so are the number of copies and the order. */
const NOT_WITH_SWARM = [
  "router",
  "propagation",
  "order",
  "retries",
  "upstream-keepalive",
  "copies",
  "repeat",
] as const;
const ONLY_WITH = {
  "compose-file": ["compose"],
  service: ["compose", "swarm"],
  "container-port": ["compose"],
  url: ["swarm"],
  "drain-node": ["swarm"],
  engines: ["swarm"],
} as const satisfies Partial<Record<keyof RolloutOptions, readonly string[]>>;

function urlOf(text: string | undefined): URL {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.protocol !== "http:" || url.pathname !== "/") {
    refuse(
      text === undefined
        ? "--platform swarm needs the address of the router."
        : `--url ${text} is no address of a router.`,
      "Write --url http://HOST:PORT; the paths are --get and --post.",
    );
  }
  return url;
}

/** A swarm's services are described as Compose's are. */
export function wordsOf(options: RolloutOptions): Platform | null {
  const named = oneOf("platform", options.platform, [...PLATFORMS, "swarm"]) ?? null;
  return named === "swarm" ? "compose" : named;
}

/** Null: the copies are child processes. */
export function platformService(options: RolloutOptions): OnPlatform | null {
  const named = oneOf("platform", options.platform, [...PLATFORMS, "swarm"]);
  const runs = named === "swarm" || (named === "compose" && options.command === undefined);
  const platform = runs ? named : "local";
  for (const [name, platforms] of Object.entries(ONLY_WITH) as [
    keyof typeof ONLY_WITH,
    readonly string[],
  ][]) {
    if (options[name] !== undefined && !platforms.includes(platform)) {
      refuse(
        `--${name} belongs to --platform ${platforms.join(" or ")}.`,
        `Add --platform ${platforms[0] ?? ""}, or drop the flag.`,
      );
    }
  }
  if (platform === "local") {
    return null;
  }
  const stray = [...NOT_ON_A_PLATFORM, ...(platform === "swarm" ? NOT_WITH_SWARM : [])].find(
    (name) => options[name] !== undefined,
  );
  if (stray !== undefined) {
    refuse(
      `${stray === "command" ? "A command after --" : `--${stray}`} and --platform ${platform} exclude each other.`,
      platform === "compose"
        ? "The compose file says what is run and how it is stopped: stop_signal, stop_grace_period, init, environment."
        : "The swarm says what is run, how it is stopped and what is in front of it.",
    );
  }
  if (options.witness === "import" || options.witness === "shim") {
    refuse(
      `--witness ${options.witness} and --platform ${platform} exclude each other.`,
      "Name a file to which the service appends the ids that it has executed: --executed FILE.",
    );
  }
  if (platform === "swarm") {
    if (options.service === undefined) {
      refuse(
        "--platform swarm needs the name of a service.",
        "Add --service NAME, as docker service ls tells it.",
      );
    }
    return {
      kind: "swarm",
      name: options.service,
      url: urlOf(options.url),
      drainNode: options["drain-node"] ?? null,
      engines: options.engines?.split(",").filter(Boolean) ?? [],
    };
  }
  const port = options["container-port"];
  return {
    kind: "compose",
    file: options["compose-file"] ?? "compose.yaml",
    name: options.service ?? null,
    containerPort: port === undefined ? null : number("container-port", port, 0, 1, 65_535),
  };
}
