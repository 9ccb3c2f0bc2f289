/**
 * The workers of a `node:cluster` primary as a part of its stop: one budget, begun by one signal. The platform may have
 * signalled the primary alone, so each worker is told; the primary is drained when the last of them has exited, since a
 * worker whose primary is gone exits in the middle of its work. Pure but for `Host`.
 */

import type { Host, Undo } from "../host.ts";

export interface ClusterWorker {
  /** `cluster worker 1 (pid 4242)`. */
  readonly name: string;
  signal(signal: NodeJS.Signals): void;
  /** Calls back once with how it ended: null for exit code 0. */
  onEnd(run: (how: string | null) => void): void;
}

/** What the system tells of a cluster. */
export interface Cluster {
  readonly workers: readonly ClusterWorker[];
  /** Keeps the ends of workers from the app, which would replace them, and tells of those that it still starts. */
  holdRestarts(started: (worker: ClusterWorker) => void): Undo;
}

export class ClusterStop {
  readonly #host: Host;
  readonly #onEnd: () => void;
  readonly #alive = new Set<ClusterWorker>();
  readonly #failures: string[] = [];
  #signal: NodeJS.Signals = "SIGTERM";

  /** `onEnd` is called when the last worker has exited. */
  constructor(host: Host, onEnd: () => void) {
    this.#host = host;
    this.#onEnd = onEnd;
  }

  get alive(): number {
    return this.#alive.size;
  }

  /** Whether this process has workers at all. */
  isPrimary(): boolean {
    return (this.#host.cluster()?.workers.length ?? 0) > 0;
  }

  /** t0: tells every worker, and whichever comes yet. Returns what undoes it; null where there are no workers. */
  begin(): Undo | null {
    const cluster = this.#host.cluster();
    if (cluster === null || cluster.workers.length === 0) {
      return null;
    }
    cluster.workers.forEach((worker) => this.#add(worker));
    return cluster.holdRestarts((worker) => this.#add(worker));
  }

  /** A later stop signal is the workers', too. */
  pass(signal: NodeJS.Signals): void {
    this.#signal = signal;
    this.#alive.forEach((worker) => worker.signal(signal));
  }

  /** Teardown: what the deadline has left of them may finish their own; then tells who did not end well. */
  async end(): Promise<void> {
    await Promise.all(
      [...this.#alive].map(
        (worker) =>
          new Promise<void>((resolve) => {
            worker.onEnd(() => resolve());
          }),
      ),
    );
    if (this.#failures.length > 0) {
      throw new Error(this.#failures.join("; "));
    }
  }

  /** Those that run, for the progress line. */
  names(): readonly string[] {
    return [...this.#alive].map(({ name }) => name);
  }

  #add(worker: ClusterWorker): void {
    this.#alive.add(worker);
    worker.onEnd((how) => {
      this.#alive.delete(worker);
      if (how !== null) {
        this.#failures.push(`${worker.name} ended with ${how}`);
      }
      if (this.#alive.size === 0) {
        this.#onEnd();
      }
    });
    worker.signal(this.#signal);
  }
}
