/** Options of a rolling restart -> plans, one for each row that is run. Pure: every wrong or contradictory value ends here. */

import { formatDuration } from "../duration.ts";
import { ROUTER_NAMES } from "../router/options.ts";
import { loadShape, speechOf } from "./load-options.ts";
import { duration, number, oneOf, refuse } from "./option-values.ts";
import type { RolloutPlan, Timing } from "./plan.ts";
import { platformService, wordsOf } from "./platform-options.ts";
import type { RolloutOptions } from "./rollout-options.ts";
import { routerBehaviour } from "./router-options.ts";
import { SCENARIOS, SCENARIO_NAMES, type Scenario } from "./scenarios.ts";
import { routesOf, witnessed, witnessOf } from "./service-options.ts";

const TIMING: Timing = { headMs: 1500, gapMs: 3500, tailMs: 2500 };
/** With it the first kill meets a POST in flight whichever copy it hits; see the test of the rows. */
const DEFAULT_SEED = 1;
/** The classic rows are for looking at: a busy moment of the machine is waited out. A service of yours is told of it. */
const BUILT_IN_ATTEMPTS = 3;
const DEFAULT_GRACE_MS = 30_000;
const DEFAULT_READY_TIMEOUT_MS = 15_000;

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
      : ` + ${drainDelayMs / 1000} s`;
  if (!row.retries && !anyRetries) {
    return delay === "" ? stop : `${stop}${delay} delay`;
  }
  // Both must fit the table's column.
  return delay === "" ? `${stop}, router retries` : `${stop}${delay}, retries`;
}
