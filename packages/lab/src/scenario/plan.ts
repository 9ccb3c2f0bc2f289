/** Options of a rolling restart -> plans, one for each row that is run. Pure: every wrong or contradictory value ends here. */

import { formatDuration } from "../duration.ts";
import { didYouMean } from "../nearest.ts";
import {
  ROUTER_NAMES,
  speaksHttp2ToCopies,
  type RouterBehaviour,
  type RouterName,
} from "../router/options.ts";
import { type Platform } from "./platforms.ts";
import { platformService, wordsOf } from "./platform-options.ts";
import { duration, number, oneOf, refuse, route } from "./option-values.ts";
import { loadShape, speechOf, type LoadShape } from "./load-options.ts";
import { routerBehaviour } from "./router-options.ts";
import {
  SCENARIOS,
  SCENARIO_NAMES,
  type Build,
  type Expectation,
  type Scenario,
  type ScenarioName,
} from "./scenarios.ts";

/** What flags and configuration say, as text; absent where neither says it. */
export interface RolloutOptions {
  readonly scenario?: string;
  readonly all?: boolean;
  readonly router?: string;
  readonly propagation?: string;
  readonly order?: string;
  readonly retries?: boolean;
  readonly "retry-posts"?: boolean;
  readonly "upstream-keepalive"?: boolean;
  readonly "client-keepalive"?: boolean;
  readonly removal?: string;
  readonly "pooled-at-removal"?: string;
  readonly "health-interval"?: string;
  readonly "health-fall"?: string;
  readonly "health-rise"?: string;
  readonly "max-fails"?: string;
  readonly "fail-timeout"?: string;
  readonly rate?: string;
  readonly load?: string;
  readonly arrivals?: string;
  readonly engine?: string;
  readonly "load-workers"?: string;
  readonly protocol?: string;
  readonly copies?: string;
  readonly repeat?: string;
  readonly seed?: string;
  readonly "drain-delay"?: string;
  readonly build?: string;
  readonly ready?: string;
  readonly live?: string;
  readonly get?: string;
  readonly post?: string;
  readonly "post-body"?: string;
  readonly executed?: string;
  readonly witness?: string;
  readonly grace?: string;
  readonly "ready-timeout"?: string;
  readonly attempts?: string;
  readonly "warm-up"?: string;
  readonly explain?: boolean;
  readonly controls?: boolean;
  readonly platform?: string;
  readonly "compose-file"?: string;
  readonly service?: string;
  readonly "container-port"?: string;
  readonly url?: string;
  readonly "drain-node"?: string;
  readonly engines?: string;
  readonly command?: readonly string[];
}

export type Service =
  | { readonly kind: "orders"; readonly build: Build }
  | { readonly kind: "command"; readonly command: readonly string[] }
  | {
      readonly kind: "compose";
      readonly file: string;
      /** Null: the only one of the file. */
      readonly name: string | null;
      /** Null: the only one that it publishes. */
      readonly containerPort: number | null;
    }
  | {
      readonly kind: "swarm";
      readonly name: string;
      /** The router in front of it. */
      readonly url: URL;
      readonly drainNode: string | null;
      readonly engines: readonly string[];
    };

export interface Routes {
  /** Readiness: 200 when the copy may be sent work. */
  readonly ready: string;
  /** Liveness: 200 until the exit; null: nobody asks. */
  readonly live: string | null;
  /** Templates with `{id}`; null: no such requests. */
  readonly get: string | null;
  readonly post: string | null;
  readonly postBody: string | null;
}

export interface RolloutPlan {
  readonly scenario: ScenarioName;
  readonly title: string;
  readonly mustShow: string;
  /** What a built-in row must show; null: judged strictly, any loss is a finding. */
  readonly expectation: Expectation | null;
  readonly service: Service;
  readonly routes: Routes;
  readonly signal: "SIGTERM" | "SIGKILL";
  /** Handed to the service; null: it has its own and is not told another. */
  readonly drainDelayMs: number | null;
  readonly gracePeriodMs: number;
  readonly readyTimeoutMs: number;
  readonly router: RouterBehaviour & {
    /** `auto`: nginx where it is found and can do what is asked for, else another that can, else embedded. */
    readonly name: "auto" | RouterName;
  };
  /** The router's lag; where it removes by readiness, what its checks make of it at the least. */
  readonly propagationMs: number;
  /** How long a copy that is ready waits before the router lists it. */
  readonly warmUpMs: number;
  readonly order: "parallel" | "remove-first";
  readonly ratePerSecond: number;
  readonly load: LoadShape;
  readonly copies: number;
  /** Restarts of each copy. */
  readonly repeat: number;
  readonly seed: number;
  /** A file to which the service appends each id that it has executed; null: nobody can tell, or the orders service's own. */
  readonly executedFile: string | null;
  /** Who sees what comes to each copy: code of the lab inside it, a shim in front of it, or nobody. */
  readonly witness: "none" | "import" | "shim";
  readonly timing: Timing;
  /** After a failed run: again with one factor changed at a time. */
  readonly explain: boolean;
  /** After the run: again in ways that must show losses. */
  readonly controls: boolean;
  /** In whose words the advice is given; null: in ours. */
  readonly platform: Platform | null;
  /** How often the row is run at most, should the machine be too busy for a valid run. */
  readonly attempts: number;
}

export interface Timing {
  /** From the start of the load to the first stop: the baseline. */
  readonly headMs: number;
  /** From one stop to the next, at least; never before the replacement is in rotation. */
  readonly gapMs: number;
  /** From the last replacement in rotation to the end of the load. */
  readonly tailMs: number;
}

export const TIMING: Timing = { headMs: 1500, gapMs: 3500, tailMs: 2500 };
/** With it the first kill meets a POST in flight whichever copy it hits; see the test of the rows. */
export const DEFAULT_SEED = 1;
/** The classic rows are for looking at: a busy moment of the machine is waited out. A service of yours is told of it. */
const BUILT_IN_ATTEMPTS = 3;
export const DEFAULT_GRACE_MS = 30_000;
export const DEFAULT_READY_TIMEOUT_MS = 15_000;
const ORDERS_ROUTES: Routes = {
  ready: "/ready",
  live: null,
  // The id in the path is what joins a line of the router's log with its request.
  get: "/work?seconds=0.3&id={id}",
  post: "/orders?id={id}",
  postBody: '{"id":"{id}","work":0.3}',
};

function chosenRows(options: RolloutOptions, onPlatform: boolean): readonly Scenario[] {
  if (onPlatform) {
    return [SCENARIOS.stop];
  }
  const stranger = options.command !== undefined;
  if (options.all === true) {
    if (options.scenario !== undefined) {
      refuse("--all and --scenario exclude each other.", "Drop one of them.");
    }
    return SCENARIO_NAMES.map((name) => SCENARIOS[name]).filter((row) => !stranger || row.forAnyCommand);
  }
  return [SCENARIOS[oneOf("scenario", options.scenario, SCENARIO_NAMES) ?? "drain"]];
}

function routesOf(options: RolloutOptions, stranger: boolean): Routes {
  const ready = route("ready", options.ready);
  const live = route("live", options.live);
  const get = route("get", options.get);
  const post = route("post", options.post);
  const postBody = options["post-body"];
  if (!stranger) {
    const given = [
      ["ready", ready],
      ["live", live],
      ["get", get],
      ["post", post],
      ["post-body", postBody],
      ["executed", options.executed],
    ].find(([, value]) => value !== undefined);
    if (given !== undefined) {
      refuse(
        `--${given[0]} belongs to a service of yours.`,
        "Add its command: -- node app.js, or drop the flag.",
      );
    }
    return ORDERS_ROUTES;
  }
  if (postBody !== undefined && post === undefined) {
    refuse("--post-body has no --post to go with.", "Add --post /path, or drop the body.");
  }
  if (options.executed !== undefined && post === undefined) {
    refuse("--executed has no --post whose ids it could hold.", "Add --post /path, or drop the file.");
  }
  return {
    ready: ready ?? "/ready",
    live: live ?? null,
    get: get ?? (post === undefined ? "/" : null),
    post: post ?? null,
    postBody: post === undefined ? null : (postBody ?? '{"id":"{id}"}'),
  };
}

/** `--witness FILE` is `--executed FILE`: the service's own list is a witness too. */
function witnessOf(
  { witness, executed, post }: RolloutOptions,
  stranger: boolean,
): Pick<RolloutPlan, "witness" | "executedFile"> {
  if (witness === undefined || witness === "none" || witness === "import" || witness === "shim") {
    return { witness: witness ?? "none", executedFile: executed ?? null };
  }
  if (!/[./\\]/.test(witness)) {
    refuse(
      `--witness knows no '${witness}'.`,
      `${didYouMean(witness, ["import", "shim", "none"])}It may be import, shim, none, or a file with its folder: ./executed.txt.`,
    );
  }
  if (executed !== undefined) {
    refuse("--witness and --executed both name a file.", "Drop one of them.");
  }
  if (!stranger || post === undefined) {
    refuse(
      "--witness FILE has no --post whose ids it could hold.",
      "Add --post /path and the command of your service, or use import or shim.",
    );
  }
  return { witness: "none", executedFile: witness };
}

/** The witnesses of the lab see HTTP/1.1: what they do not see must not count as what never came. */
function witnessed<T extends Pick<RolloutPlan, "witness">>(chosen: T, behaviour: RouterBehaviour): T {
  if (chosen.witness !== "none" && speaksHttp2ToCopies(behaviour)) {
    refuse(
      `--witness ${chosen.witness} sees HTTP/1.1 only, and the copies are spoken to by HTTP/2.`,
      "Drop it, name a file that the service writes, or let a router turn HTTP/2 into HTTP/1.1 (without --pooled-at-removal).",
    );
  }
  return chosen;
}

/** Without a reader of files there is none to read. */
function noFile(file: string): never {
  return refuse(`--load ${file} cannot be read.`, "Name a file that can.");
}

/** The rows to run. `readText` reads the file of `--load`. Throws `LAB_OPTION` with what was seen, the limit and what to do. */
export function planRollout(
  options: RolloutOptions,
  readText: (file: string) => string = noFile,
): readonly RolloutPlan[] {
  const command = options.command;
  if (command?.length === 0) {
    refuse("There is no command after --.", "Write it there: lastcall rollout -- node app.js --port {port}");
  }
  if (command !== undefined && options.build !== undefined) {
    refuse(
      "--build chooses a build of the orders service, and a command of yours is given.",
      "Drop one of them.",
    );
  }
  const build = oneOf("build", options.build, ["naive", "lastcall", "bare"]);
  const order = oneOf("order", options.order, ["parallel", "remove-first"]) ?? "parallel";
  const router = oneOf("router", options.router, ROUTER_NAMES) ?? "auto";
  const platform = platformService(options);
  const stranger = command !== undefined || platform !== null;
  const routes = routesOf(options, stranger);
  const ratePerSecond = number("rate", options.rate, 20, 0.1, 20_000, false);
  const load = loadShape(options, ratePerSecond, readText);
  const speech = speechOf(load);
  const behaviour = routerBehaviour(options, routes.ready, speech);
  const gracePeriodMs = duration("grace", options.grace, DEFAULT_GRACE_MS, 1000, 600_000);
  const givenDelayMs =
    options["drain-delay"] === undefined
      ? null
      : duration("drain-delay", options["drain-delay"], 0, 0, 300_000);
  const shared = {
    routes,
    gracePeriodMs,
    readyTimeoutMs: duration(
      "ready-timeout",
      options["ready-timeout"],
      DEFAULT_READY_TIMEOUT_MS,
      100,
      300_000,
    ),
    propagationMs:
      behaviour.removal === "readiness"
        ? behaviour.health.intervalMs * (behaviour.health.fall ?? 1)
        : duration("propagation", options.propagation, 1000, 0, 60_000),
    warmUpMs: duration("warm-up", options["warm-up"], 0, 0, 60_000),
    order,
    ratePerSecond,
    load,
    copies: number("copies", options.copies, 2, 2, 16),
    repeat: number("repeat", options.repeat, 1, 1, 1000),
    seed: number("seed", options.seed, DEFAULT_SEED, 0, 4_294_967_295),
    ...witnessed(witnessOf(options, stranger), behaviour),
    timing: TIMING,
    explain: options.explain === true,
    controls: options.controls === true,
    platform: wordsOf(options),
    attempts: number("attempts", options.attempts, stranger ? 1 : BUILT_IN_ATTEMPTS, 1, 5),
  };
  return chosenRows(options, platform !== null).map((row) => {
    // `stop` is the service as it is: only `drain` tells a stranger's service a delay of the lab's choosing.
    const told = !stranger || row.name.startsWith("drain");
    const drainDelayMs = givenDelayMs ?? (told ? row.drainDelayMs : null);
    if (drainDelayMs !== null && drainDelayMs >= gracePeriodMs && row.signal !== "SIGKILL") {
      refuse(
        `A drain delay of ${formatDuration(drainDelayMs)} does not fit a grace period of ${formatDuration(gracePeriodMs)}: SIGKILL would come first.`,
        "Raise --grace, or shorten --drain-delay.",
      );
    }
    const changed =
      stranger ||
      (build !== undefined && build !== row.build) ||
      (givenDelayMs !== null && givenDelayMs !== row.drainDelayMs) ||
      (options.retries === true && !row.retries) ||
      options["upstream-keepalive"] === true ||
      options["client-keepalive"] === true ||
      order !== "parallel" ||
      behaviour.removal !== "control-plane" ||
      behaviour.pooledAtRemoval !== "closed-when-idle" ||
      behaviour.passive !== null ||
      behaviour.retryPosts === true ||
      shared.load.mix !== null ||
      shared.load.arrivals.kind !== "constant" ||
      shared.load.engine !== "raw" ||
      behaviour.http2 !== undefined ||
      shared.propagationMs !== 1000;
    return {
      ...shared,
      scenario: row.name,
      title: titleOf(row, drainDelayMs, options.retries === true),
      mustShow: changed ? "nothing is lost" : row.mustShow,
      expectation: changed ? null : row.expectation,
      service:
        platform ??
        (command === undefined
          ? { kind: "orders", build: build ?? row.build }
          : { kind: "command", command }),
      signal: row.signal,
      drainDelayMs,
      router: { ...behaviour, name: router, retries: row.retries || options.retries === true },
    };
  });
}

function titleOf(row: Scenario, drainDelayMs: number | null, anyRetries: boolean): string {
  const stop = row.signal === "SIGKILL" ? "hard kill" : "stop signal";
  const delay =
    drainDelayMs === null || drainDelayMs === 0 || row.signal === "SIGKILL"
      ? ""
      : ` + ${drainDelayMs / 1000} s delay`;
  if (!row.retries && !anyRetries) {
    return `${stop}${delay}`;
  }
  return delay === "" ? `${stop}, router retries` : `${stop}${delay}, retries`;
}
