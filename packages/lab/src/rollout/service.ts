/** How the plan's service is started as a copy: its command, its environment, and the files by which it bears witness. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { formatDuration } from "../duration.ts";
import { LabError } from "../errors.ts";
import { speaksHttp2ToCopies } from "../router/options.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import { fillCommand, type CopySpec } from "../target/copy.ts";

/** The orders service of this repository, seen from packages/lab/dist/src/rollout. */
export const ORDERS_SERVER: string = fileURLToPath(
  new URL("../../../../../examples/orders/dist/src/server.js", import.meta.url),
);

/** A copy's place in the row: `A` for A, A2, A3. Copies of one place follow each other and share a store. */
export function placeOf(copy: string): string {
  return copy.replace(/\d+$/, "");
}

export function copyName(place: number, generation: number): string {
  const letter = String.fromCodePoint("A".codePointAt(0)! + place);
  return generation === 1 ? letter : `${letter}${generation}`;
}

/** The run folder's file names, in one place. */
export const FILES: {
  readonly output: (copy: string) => string;
  readonly executed: (copy: string) => string;
  readonly store: (place: string) => string;
  readonly events: (copy: string) => string;
  readonly witness: (copy: string) => string;
} = {
  output: (copy) => `copy-${copy}.log`,
  executed: (copy) => `executed-${copy}.txt`,
  store: (place) => `orders-${place}.db`,
  events: (copy) => `events-${copy}.ndjson`,
  witness: (copy) => `witness-${copy}.ndjson`,
};

/** For the ledger and the report: without the numbers of one copy. */
export function commandOf(plan: RolloutPlan): readonly string[] {
  switch (plan.service.kind) {
    case "command":
      return plan.service.command;
    case "compose":
      return ["compose", plan.service.file, ...(plan.service.name === null ? [] : [plan.service.name])];
    case "swarm":
      return ["swarm", plan.service.name];
    case "orders":
      return ["orders", `--build=${plan.service.build}`];
  }
}

export function copySpec(
  plan: RolloutPlan,
  name: string,
  port: number,
  folder: string,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): CopySpec {
  const delay = plan.drainDelayMs === null ? null : formatDuration(plan.drainDelayMs);
  const shared = {
    name,
    cwd,
    port,
    readyPath: plan.routes.ready,
    livePath: plan.routes.live,
    speaksHttp2: plan.router.http2 === "only" && speaksHttp2ToCopies(plan.router),
    readyTimeoutMs: plan.readyTimeoutMs,
    outputFile: path.join(folder, FILES.output(name)),
    env: {
      ...env,
      LASTCALL_GRACE_PERIOD: formatDuration(plan.gracePeriodMs),
      ...(delay === null ? {} : { LASTCALL_DRAIN_DELAY: delay }),
    },
  };
  if (plan.service.kind === "command") {
    const values = { port: String(port), copy: name, ...(delay === null ? {} : { drainDelay: delay }) };
    return { ...shared, command: fillCommand(plan.service.command, values) };
  }
  if (plan.service.kind !== "orders") {
    throw new Error(`a service of ${plan.service.kind} is started by its platform`);
  }
  if (!existsSync(ORDERS_SERVER)) {
    throw new LabError(
      "LAB_TARGET_NOT_STARTED",
      "The built-in rows run the orders service, which is built in a clone of the repository only.",
      "Clone it and run `npm ci`, or give a command of yours: lastcall rollout -- node app.js",
    );
  }
  const file = (fileName: string): string => path.join(folder, fileName);
  return {
    ...shared,
    command: [
      process.execPath,
      // The warning that node:sqlite is experimental says nothing about the run.
      "--disable-warning=ExperimentalWarning",
      ORDERS_SERVER,
      "--build",
      plan.service.build,
      "--port",
      String(port),
      "--db",
      file(FILES.store(placeOf(name))),
      "--events",
      file(FILES.events(name)),
      "--executed",
      file(FILES.executed(name)),
    ],
  };
}
