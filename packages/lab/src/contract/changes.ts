/** Whoever waits for something to change is woken by each change, or when the time is over. */

import { performance } from "node:perf_hooks";

export class Changes {
  readonly #waiting = new Set<() => void>();

  /** Something has changed. */
  tell(): void {
    for (const wake of this.#waiting) {
      wake();
    }
  }

  /** Looks at once and after each change until `look` finds something; null when the time is over or `isOver` says so. */
  async until<Found>(
    look: () => Found | null,
    timeoutMs: number,
    isOver: () => boolean = () => false,
  ): Promise<Found | null> {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      const found = look();
      const leftMs = deadlineMs - performance.now();
      if (found !== null || isOver() || leftMs <= 0) {
        return found;
      }
      // One change after the other.
      await this.#next(leftMs);
    }
  }

  #next(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(1, timeoutMs));
      this.#waiting.add(wake);
    });
  }
}
