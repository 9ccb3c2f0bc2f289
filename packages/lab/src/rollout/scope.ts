/** What a run has opened and must close, last first, whatever happens; and waits that end when the run is interrupted. */

import { setTimeout as sleep } from "node:timers/promises";

export class Interrupted extends Error {
  constructor() {
    super("interrupted");
  }
}

export interface Scope {
  /** Closed in reverse order by `close`; at once when that has begun. */
  defer(close: () => Promise<void> | void): void;
  /** Throws `Interrupted` once `close` has begun: nothing new is started then. */
  assertOpen(): void;
  /** Ends every wait with this error: something outside of them has made the run pointless. */
  fail(error: unknown): void;
  /** The promise, or `Interrupted` if that comes first. */
  orInterrupted<T>(promise: Promise<T>): Promise<T>;
  sleep(ms: number): Promise<void>;
  /** The promise, or null if it takes longer than this. */
  within<T>(promise: Promise<T>, ms: number): Promise<T | null>;
  /** Every closer runs, also after one that fails; the first failure is thrown at the end. */
  close(): Promise<void>;
}

export function openScope(interrupted: AbortSignal): Scope {
  const closers: (() => Promise<void> | void)[] = [];
  let closed = false;
  let fail: (error: unknown) => void = () => undefined;
  const interruption = new Promise<never>((_, reject) => {
    fail = reject;
    const abort = (): void => reject(new Interrupted());
    if (interrupted.aborted) {
      abort();
    } else {
      interrupted.addEventListener("abort", abort, { once: true });
      closers.push(() => interrupted.removeEventListener("abort", abort));
    }
  });
  interruption.catch(() => undefined); // Those who race against it see it.
  const orInterrupted = <T>(promise: Promise<T>): Promise<T> => Promise.race([promise, interruption]);
  return {
    defer: (close) => {
      if (closed) {
        // Its own failure has nowhere to go: the scope has already said how it ended.
        void Promise.resolve(close()).catch(() => undefined);
      } else {
        closers.push(close);
      }
    },
    assertOpen: () => {
      if (closed) {
        throw new Interrupted();
      }
    },
    fail: (error) => fail(error),
    orInterrupted,
    sleep: async (ms) => {
      const over = new AbortController();
      try {
        await orInterrupted(sleep(ms, undefined, { signal: over.signal }));
      } finally {
        over.abort();
      }
    },
    within: async (promise, ms) => {
      const over = new AbortController();
      // Aborted when the promise was first: the race is over then.
      const late = sleep(ms, null, { signal: over.signal }).catch(() => null);
      try {
        return await orInterrupted(Promise.race([promise, late]));
      } finally {
        over.abort();
      }
    },
    close: async () => {
      closed = true;
      const failures: unknown[] = [];
      for (const close of closers.toReversed()) {
        try {
          // In reverse order of opening, one after the other: a copy must not outlive its router's log.
          await close();
        } catch (error) {
          failures.push(error);
        }
      }
      closers.length = 0;
      if (failures.length > 0) {
        throw failures[0];
      }
    },
  };
}
