/**
 * Deadlines that are added in the order in which they fall due, with one timer for all of them. A map keeps that order, so
 * adding, removing and finding the next one cost the same for a million requests as for one.
 */

export class DeadlineList<T> {
  readonly #due = new Map<T, number>();
  readonly #now: () => number;
  readonly #expired: (item: T) => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(now: () => number, expired: (item: T) => void) {
    this.#now = now;
    this.#expired = expired;
  }

  get size(): number {
    return this.#due.size;
  }

  add(item: T, dueMs: number): void {
    this.#due.set(item, dueMs);
    if (this.#timer === null) {
      this.#arm(dueMs);
    }
  }

  remove(item: T): void {
    // The timer stays: it finds the next deadline when it fires, which is cheaper than moving it for each answer.
    this.#due.delete(item);
    if (this.#due.size === 0) {
      this.#disarm();
    }
  }

  clear(): void {
    this.#due.clear();
    this.#disarm();
  }

  #arm(dueMs: number): void {
    this.#timer = setTimeout(() => this.#fire(), Math.max(1, Math.ceil(dueMs - this.#now())));
  }

  #disarm(): void {
    if (this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#timer = null;
    }
  }

  #fire(): void {
    this.#timer = null;
    for (const [item, dueMs] of this.#due) {
      if (dueMs > this.#now()) {
        if (this.#timer === null) {
          this.#arm(dueMs);
        }
        return;
      }
      this.#due.delete(item);
      this.#expired(item);
    }
  }
}
