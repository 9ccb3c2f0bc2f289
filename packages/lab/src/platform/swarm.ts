/**
 * `--platform swarm`: a service that runs in Docker Swarm is updated under load by Swarm itself. The lab sends the load
 * to the router in front of it, gives the one command, follows the engines' events, and judges nothing.
 */

import { LabError } from "../errors.ts";
import type { RunClock } from "../ledger/clock.ts";
import type { EventRecord } from "../ledger/records.ts";
import type { Scope } from "../rollout/scope.ts";
import type { Guardian } from "../target/guardian.ts";
import { assertEngine, docker, dockerProgram, followEvents, runProgram } from "./docker.ts";
import { followTasks, type SwarmTasks } from "./swarm-tasks.ts";
import type { UpdateOrder } from "./update-order.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface SwarmOptions {
  readonly service: string;
  /** Update by draining this node; null: a forced update of every task. */
  readonly drainNode: string | null;
  /** `DOCKER_HOST` of the other nodes' engines: each tells only of its own containers. */
  readonly engines: readonly string[];
  /** How long an update may take for each task, beside the grace period. */
  readonly taskTimeoutMs: number;
}

export interface SwarmService {
  readonly replicas: number;
  readonly gracePeriodMs: number;
  readonly order: UpdateOrder;
  /** Follows the engines from now on; closed with the scope. */
  follow(
    scope: Scope,
    clock: RunClock,
    guardian: Guardian,
    emit: (event: EventRecord) => void,
  ): Promise<SwarmTasks>;
  /** Gives the command and waits until Swarm says that it is done and every leaving task has ended. */
  update(scope: Scope, tasks: SwarmTasks): Promise<void>;
}

interface Inspected {
  readonly Spec: {
    readonly Mode?: { readonly Replicated?: { readonly Replicas?: number } };
    readonly UpdateConfig?: { readonly Order?: string };
    readonly TaskTemplate: {
      readonly ContainerSpec: { readonly StopGracePeriod?: number; readonly Healthcheck?: object };
    };
  };
  readonly UpdateStatus?: { readonly State?: string; readonly Message?: string; readonly StartedAt?: string };
}

interface TaskLine {
  readonly Name: string;
  readonly Node: string;
  readonly CurrentState: string;
  readonly Error: string;
}

const POLL_MS = 300;
const DEFAULT_GRACE_MS = 10_000;
const SERVICE_LABEL = "com.docker.swarm.service.name";
const FAILED_STATES = ["paused", "rollback_started", "rollback_paused", "rollback_completed"];

async function inspect(env: Environment, service: string, gone: string): Promise<Inspected> {
  const seen = await runProgram(dockerProgram(env), ["service", "inspect", service], env);
  const [found] = seen.code === 0 ? (JSON.parse(seen.out) as readonly Inspected[]) : [];
  if (found !== undefined) {
    return found;
  }
  const why = seen.err.trim().split("\n").at(-1) ?? "";
  throw /not a swarm manager|swarm init/i.test(why)
    ? new LabError(
        "LAB_PLATFORM_MISSING",
        `The Docker engine is no manager of a swarm: ${why}`,
        "Name a manager with DOCKER_HOST, or make a swarm with docker swarm init.",
      )
    : new LabError(
        gone === "" ? "LAB_PLATFORM_REFUSED" : "LAB_PLATFORM_LOST",
        `There is no service ${service} in the swarm${gone}: ${why}`,
        "See docker service ls.",
      );
}

async function runningTasks(env: Environment, service: string): Promise<readonly TaskLine[]> {
  const out = await docker(
    env,
    "service",
    "ps",
    service,
    "--no-trunc",
    "--filter",
    "desired-state=running",
    "--format",
    "{{json .}}",
  );
  return out
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as TaskLine);
}

export async function openSwarm(options: SwarmOptions, env: Environment): Promise<SwarmService> {
  const { service, drainNode } = options;
  await assertEngine(env);
  const before = await inspect(env, service, "");
  const replicas = before.Spec.Mode?.Replicated?.Replicas;
  if (replicas === undefined || replicas < 1) {
    throw new LabError(
      "LAB_PLATFORM_REFUSED",
      `The service ${service} has no replicas.`,
      "Only replicated services can be followed.",
    );
  }
  const container = before.Spec.TaskTemplate.ContainerSpec;
  const gracePeriodMs = (container.StopGracePeriod ?? DEFAULT_GRACE_MS * 1e6) / 1e6;
  const order: UpdateOrder = before.Spec.UpdateConfig?.Order === "start-first" ? "start-first" : "stop-first";
  const engines: readonly Environment[] = [
    env,
    ...options.engines.map((host) => ({ ...env, DOCKER_HOST: host })),
  ];

  const isThrough = async (startedBefore: string | undefined): Promise<boolean> => {
    const tasks = await runningTasks(env, service);
    const running = tasks.filter(({ CurrentState }) => CurrentState.startsWith("Running"));
    if (drainNode !== null) {
      return running.length === replicas && running.every(({ Node }) => Node !== drainNode);
    }
    const { UpdateStatus } = await inspect(env, service, " any more");
    const state = UpdateStatus?.StartedAt === startedBefore ? undefined : UpdateStatus?.State;
    if (state !== undefined && FAILED_STATES.includes(state)) {
      throw new LabError(
        "LAB_PLATFORM_REFUSED",
        `Swarm gave up on the update of ${service} (${state}): ${UpdateStatus?.Message ?? ""}`,
        "See docker service ps --no-trunc.",
      );
    }
    return state === "completed" && running.length === replicas;
  };

  return {
    replicas,
    gracePeriodMs,
    order,
    follow: async (scope, clock, guardian, emit) => {
      const tasks = followTasks(container.Healthcheck !== undefined, emit);
      for (const engine of engines) {
        const filters = ["type=container", `label=${SERVICE_LABEL}=${service}`];
        const listed = await docker(
          engine,
          "ps",
          "--no-trunc",
          "--filter",
          `label=${SERVICE_LABEL}=${service}`,
          "--format",
          "{{.ID}}",
        );
        for (const id of listed.split("\n").filter(Boolean)) {
          // One after the other: a handful, before the load.
          const labels = JSON.parse(
            await docker(engine, "inspect", "--format", "{{json .Config.Labels}}", id),
          ) as Record<string, string>;
          tasks.found({ id, labels }, clock.now());
        }
        const following = followEvents(engine, filters, clock, guardian, (event) => tasks.see(event));
        scope.defer(() => following.close());
      }
      return tasks;
    },
    update: async (scope, tasks) => {
      const startedBefore = (await inspect(env, service, "")).UpdateStatus?.StartedAt;
      if (drainNode === null) {
        await docker(env, "service", "update", "--detach", "--quiet", "--force", service);
      } else {
        await docker(env, "node", "update", "--availability", "drain", drainNode);
        scope.defer(
          async () => void (await docker(env, "node", "update", "--availability", "active", drainNode)),
        );
      }
      const untilMs = performance.now() + replicas * (options.taskTimeoutMs + gracePeriodMs);
      // Swarm tells its managers of the end of an update only by its state.
      while (!(await scope.orInterrupted(isThrough(startedBefore))) || tasks.leaving().length > 0) {
        if (performance.now() > untilMs) {
          const seen = (await runningTasks(env, service)).map(
            ({ Name, CurrentState, Error: error }) =>
              `${Name}: ${CurrentState}${error === "" ? "" : ` (${error})`}`,
          );
          throw new LabError(
            "LAB_PLATFORM_LOST",
            `The update of ${service} was not through in time. Tasks that should run: ${seen.length} of ${replicas}${seen.length === 0 ? "" : ` (${seen.join("; ")})`}; told to stop and not ended: ${tasks.leaving().join(", ") || "none"}.`,
            "See docker service ps --no-trunc and the engine's log; --ready-timeout gives it longer.",
          );
        }
        await scope.sleep(POLL_MS);
      }
    },
  };
}
