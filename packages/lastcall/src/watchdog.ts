/**
 * The deadline of a process whose event loop is blocked. From the first stop signal on a worker thread is told, ten times
 * a second, until when this thread must have come further, and the record as it would read if it never did. Nothing runs
 * before the signal. A loop that was blocked before the signal never hears of it; only the platform's SIGKILL ends that.
 */

import type { Host, Undo } from "./host.ts";

export interface WatchdogPlan {
  readonly recordFile: string | undefined;
  /** How long the blocked thread has to answer the inspector before it counts as stuck in native code. */
  readonly answerMs: number;
}

/** The thread, as the main thread sees it. */
export interface Watchdog {
  /** This thread is alive, and will be further in `limitMs`. `record` is the line to write if it is not. */
  beat(limitMs: number, record: string): void;
  /** As before, but with another limit and the same record. */
  limit(limitMs: number): void;
  /** The stop is through. */
  stop(): void;
}

const BEAT_MS = 100;

export interface GuardHooks {
  /** Until when the stop must have come further, in milliseconds from now. */
  limitMs(): number;
  record(): string;
  /** The thread cannot run: a blocked loop is not ended. */
  failed(why: string): void;
}

/** Keeps the thread informed for as long as the stop lasts. */
export class Guard {
  readonly #host: Host;
  readonly #hooks: GuardHooks;
  #watchdog: Watchdog | null = null;
  #started = false;
  #cancel: Undo = () => {};

  constructor(host: Host, hooks: GuardHooks) {
    this.#host = host;
    this.#hooks = hooks;
  }

  /** Once; later calls change nothing. */
  start(plan: WatchdogPlan): void {
    if (!this.#started) {
      this.#started = true;
      this.#watchdog = this.#host.startWatchdog(plan, (why) => this.#hooks.failed(why));
      this.beat();
    }
  }

  /** The state has changed, and its limit: the record may be as old as the last beat. */
  moved(): void {
    this.#watchdog?.limit(this.#hooks.limitMs());
  }

  /** Called ten times a second, and by the thread itself when it has paused this one. */
  readonly beat = (): void => {
    if (this.#watchdog !== null) {
      this.#cancel();
      this.#cancel = this.#host.setTimer(BEAT_MS, this.beat, true);
      this.#watchdog.beat(this.#hooks.limitMs(), this.#hooks.record());
    }
  };

  /** The stop is through. Told early, the thread ends beside the last steps of this one; an exit would wait for it. */
  stop(): void {
    this.#cancel();
    this.#watchdog?.stop();
    this.#watchdog = null;
  }
}

/**
 * The teardown that is skipped leaves its time: a busy machine may need most of it to pause a thread, and the answer
 * decides between an exit code and a kill.
 */
export function answerTime(teardownTimeoutMs: number): number {
  return Math.min(2000, Math.max(300, teardownTimeoutMs));
}
