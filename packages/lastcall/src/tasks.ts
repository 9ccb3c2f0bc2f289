/** Tracked work: what goes on after the response, with a name, a signal and a declared fate at the deadline. */

import { LastcallError } from "./errors.ts";
import type { Host } from "./host.ts";

export interface TaskOptions {
  /**
   * What becomes of it at the deadline. `abort`: its signal fires `abortWindowMs` before and it may still settle.
   * `abandon`: it runs on until the exit and is named in the record. Default: `abort`.
   */
  readonly onDeadline?: "abort" | "abandon";
  /** Its own limit from its start, in milliseconds; its signal fires then. Default: none. */
  readonly timeoutMs?: number;
}

export type TaskFate = "completed" | "failed" | "aborted" | "abandoned";

export interface TaskReport {
  readonly counts: Readonly<Record<TaskFate, number>>;
  readonly unfinished: readonly { readonly name: string; readonly fate: TaskFate; readonly ageMs: number }[];
}

interface OpenTask {
  readonly name: string;
  readonly onDeadline: "abort" | "abandon";
  readonly startedAt: number;
  readonly abort: AbortController;
}

/** The open tasks and the fates of those that are over. */
export class Tasks {
  readonly #host: Host;
  readonly #onEnd: () => void;
  readonly #open = new Set<OpenTask>();
  readonly #counts: Record<TaskFate, number> = { completed: 0, failed: 0, aborted: 0, abandoned: 0 };
  readonly #unfinished: { name: string; fate: TaskFate; ageMs: number }[] = [];
  #closed = false;
  #aborting = false;

  /** `onEnd` is called when a task is over. */
  constructor(host: Host, onEnd: () => void) {
    this.#host = host;
    this.#onEnd = onEnd;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Runs `work` and tracks it. The returned promise settles as the work does; a rejection that nobody handles is
   * counted and never becomes an unhandled rejection. Errors: LASTCALL_STOPPING once teardown has begun.
   */
  run<T>(name: string, work: (signal: AbortSignal) => Promise<T> | T, options: TaskOptions = {}): Promise<T> {
    if (this.#closed) {
      return Promise.reject(
        new LastcallError("LASTCALL_STOPPING", `Task '${name}' came after the work had ended.`),
      );
    }
    const task: OpenTask = {
      name,
      onDeadline: options.onDeadline ?? "abort",
      startedAt: this.#host.now(),
      abort: new AbortController(),
    };
    this.#open.add(task);
    const cancelLimit =
      options.timeoutMs === undefined
        ? () => {}
        : this.#host.setTimer(options.timeoutMs, () => this.#abort(task, "its timeoutMs is over"), true);
    if (this.#aborting && task.onDeadline === "abort") {
      this.#abort(task, "the deadline is near");
    }
    const done = (async () => await work(task.abort.signal))();
    const over = (fate: TaskFate): void => {
      cancelLimit();
      this.#end(task, fate);
    };
    done.then(
      () => over("completed"),
      () => over(task.abort.signal.aborted ? "aborted" : "failed"),
    );
    return done;
  }

  /** Fires the signal of every task that asked to be aborted, and of those that still come. */
  abortAll(): void {
    this.#aborting = true;
    for (const task of this.#open) {
      if (task.onDeadline === "abort") {
        this.#abort(task, "the deadline is near");
      }
    }
  }

  /** Nobody waits any longer: what is open meets its fate, and nothing new is taken. */
  close(): void {
    this.#closed = true;
    this.#aborting = true;
    for (const task of this.#open) {
      this.#end(task, task.onDeadline === "abort" ? "aborted" : "abandoned");
    }
  }

  /** The tasks that keep the drain waiting. */
  open(): readonly { readonly name: string; readonly startedAt: number }[] {
    return [...this.#open];
  }

  report(): TaskReport {
    return { counts: { ...this.#counts }, unfinished: [...this.#unfinished] };
  }

  /** As it would be if the process ended now. */
  reportAbandoned(): TaskReport {
    const { counts, unfinished } = this.report();
    const now = this.#host.now();
    const open = [...this.#open].map(({ name, startedAt }) => {
      return { name, fate: "abandoned" as const, ageMs: now - startedAt };
    });
    return {
      counts: { ...counts, abandoned: counts.abandoned + open.length },
      unfinished: [...unfinished, ...open],
    };
  }

  #abort(task: OpenTask, why: string): void {
    task.abort.abort(new DOMException(`Task '${task.name}' was aborted: ${why}.`, "AbortError"));
  }

  #end(task: OpenTask, fate: TaskFate): void {
    if (!this.#open.delete(task)) {
      return;
    }
    this.#counts[fate] += 1;
    // One that ran into its own limit while the service was serving is no part of an unfinished stop.
    if (fate === "abandoned" || (fate === "aborted" && this.#aborting)) {
      this.#unfinished.push({ name: task.name, fate, ageMs: this.#host.now() - task.startedAt });
    }
    this.#onEnd();
  }
}
