/**
 * The tasks of a Swarm service as copies of a run: each slot is a place (A, B, ...), each container in it a generation (A,
 * A2, ...). The engine's events in, the ledger's events out.
 */

import type { RunMs } from "../ledger/records.ts";
import type { EventRecord } from "../ledger/records.ts";
import { copyName } from "../rollout/service.ts";
import { signalName, type DockerEvent } from "./docker.ts";

const TASK_NAME = "com.docker.swarm.task.name";
const TASK_ID = "com.docker.swarm.task.id";
const SHORT_ID = 12;
const SIGKILL = "9";

interface Task {
  readonly copy: string;
  told: boolean;
  killed: boolean;
  exited: boolean;
}

export interface Container {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface SwarmTasks {
  /** A container that ran before the run began. */
  found(container: Container, atMs: RunMs): void;
  see(event: DockerEvent): void;
  /** By what an answer says of who made it: the task's name or id, the container's id. */
  copyOf(said: string | null): string | null;
  /** Copies that were told to stop and have not ended. */
  leaving(): readonly string[];
}

/** `web.2.x7f...` -> 2. A global service's tasks are named by their node: null. */
export function slotOf(taskName: string | undefined): number | null {
  const slot = /\.(\d+)\.[^.]+$/.exec(taskName ?? "")?.[1];
  return slot === undefined ? null : Number(slot);
}

/** `hasHealth`: a container counts as ready when its health check says so, else when it has started. */
export function followTasks(hasHealth: boolean, emit: (event: EventRecord) => void): SwarmTasks {
  const tasks = new Map<string, Task>();
  const aliases = new Map<string, string>();
  const generations = new Map<number, number>();
  const tell = (
    event: EventRecord["event"],
    copy: string,
    atMs: number,
    detail: EventRecord["detail"],
  ): void => emit({ kind: "event", atMs, source: "target", copy, event, detail });

  const taskOf = (id: string, labels: Readonly<Record<string, string>>): Task | null => {
    const known = tasks.get(id);
    const slot = slotOf(labels[TASK_NAME]);
    if (known !== undefined || slot === null) {
      return known ?? null;
    }
    const generation = (generations.get(slot) ?? 0) + 1;
    generations.set(slot, generation);
    const task: Task = { copy: copyName(slot - 1, generation), told: false, killed: false, exited: false };
    tasks.set(id, task);
    for (const alias of [labels[TASK_NAME], labels[TASK_ID], id, id.slice(0, SHORT_ID)]) {
      if (alias !== undefined) {
        aliases.set(alias, task.copy);
      }
    }
    return task;
  };

  return {
    found: ({ id, labels }, atMs) => {
      const task = taskOf(id, labels);
      if (task !== null) {
        tell("started", task.copy, atMs, { task: labels[TASK_NAME] ?? "" });
        tell("ready", task.copy, atMs, {});
      }
    },
    see: ({ action, id, attributes, atMs }) => {
      const task = taskOf(id, attributes);
      if (task === null) {
        return;
      }
      const { copy } = task;
      if (action === "start") {
        tell("started", copy, atMs, { task: attributes[TASK_NAME] ?? "" });
        if (!hasHealth) {
          tell("ready", copy, atMs, {});
        }
      } else if (action === "health_status: healthy") {
        tell("ready", copy, atMs, {});
      } else if (action === "kill" && attributes["signal"] === SIGKILL && task.told) {
        task.killed = true;
        tell("killed", copy, atMs, { signal: "SIGKILL", reason: "grace period over" });
      } else if (action === "kill") {
        task.told = true;
        tell("signal", copy, atMs, { signal: signalName(attributes["signal"]) });
      } else if (action === "die" && !task.exited) {
        task.exited = true;
        const code = Number(attributes["exitCode"] ?? 0);
        tell("exited", copy, atMs, {
          code: task.killed ? null : code,
          signal: task.killed ? "SIGKILL" : null,
          asked: task.told,
        });
      }
    },
    copyOf: (said) => (said === null ? null : (aliases.get(said) ?? null)),
    leaving: () => [...tasks.values()].flatMap(({ copy, told, exited }) => (told && !exited ? [copy] : [])),
  };
}
