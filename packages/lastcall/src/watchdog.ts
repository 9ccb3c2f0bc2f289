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
      this.#watchdog = this.#host.startWatchdog(plan);
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

const HEAD_BYTES = 40;
const SLOT_BYTES = 8192;
const WHOLE = 1000;

/** Where the memory says that the stop is through. */
const OVER = 3;

/** What the thread reads. */
export interface Pulse {
  /** Changes with every beat. */
  readonly beats: number;
  /** On the monotonic clock that all threads share, in nanoseconds. */
  readonly limitAt: bigint;
  /** How much of its heap the thread uses, from 0 to 1. */
  readonly heapShare: number;
  readonly record: string;
}

/** The memory that both threads see. One writes into the slot that the other does not read. */
export class PulseMemory {
  readonly buffer: SharedArrayBuffer;
  /** Beats, which also tells the slot in use; lengths of the two slots; whether it is over; the heap in thousandths. */
  readonly #numbers: Int32Array;
  readonly #limitAt: BigInt64Array;
  readonly #bytes: Uint8Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(HEAD_BYTES + 2 * SLOT_BYTES)) {
    this.buffer = buffer;
    this.#numbers = new Int32Array(buffer, 0, 6);
    this.#limitAt = new BigInt64Array(buffer, 24, 2);
    this.#bytes = new Uint8Array(buffer, HEAD_BYTES);
  }

  write(limitAt: bigint, record: string, heapShare: number): void {
    const beats = Atomics.load(this.#numbers, 0) + 1;
    const slot = beats % 2;
    const text = Buffer.from(record).subarray(0, SLOT_BYTES);
    this.#bytes.set(text, slot * SLOT_BYTES);
    this.#numbers[1 + slot] = text.length;
    this.#limitAt[slot] = limitAt;
    this.#numbers[4] = Math.round(heapShare * WHOLE);
    Atomics.store(this.#numbers, 0, beats);
  }

  limit(limitAt: bigint): void {
    Atomics.store(this.#limitAt, Atomics.load(this.#numbers, 0) % 2, limitAt);
  }

  stop(): void {
    Atomics.store(this.#numbers, OVER, 1);
    Atomics.notify(this.#numbers, OVER);
  }

  /** For the thread: resolves once the stop is through. */
  async stopped(): Promise<void> {
    await Atomics.waitAsync(this.#numbers, OVER, 0).value;
  }

  /** Null before the first beat. */
  read(): Pulse | null {
    const beats = Atomics.load(this.#numbers, 0);
    if (beats === 0) {
      return null;
    }
    const slot = beats % 2;
    const start = slot * SLOT_BYTES;
    // Copied: a text decoder takes no shared memory.
    const text = Buffer.from(this.#bytes.slice(start, start + (this.#numbers[1 + slot] ?? 0))).toString();
    const heapShare = (this.#numbers[4] ?? 0) / WHOLE;
    return { beats, limitAt: Atomics.load(this.#limitAt, slot), heapShare, record: text };
  }
}

/** As the inspector tells it. */
export interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly location: { readonly lineNumber: number };
}

/** How many callers are named. */
const NAMED_FRAMES = 4;

/** `spin (routes.js:12) < route (app.js:30)`: the innermost frames that are not Node's own, if there are any. */
export function describeStack(frames: readonly Frame[]): string {
  const own = frames.filter(({ url }) => !url.startsWith("node:"));
  return (own.length > 0 ? own : frames)
    .slice(0, NAMED_FRAMES)
    .map(({ functionName, url, location }) => {
      const file = url.split("/").at(-1) ?? "";
      const place = file === "" ? "" : ` (${file}:${location.lineNumber + 1})`;
      return `${functionName === "" ? "a function" : functionName}${place}`;
    })
    .join(" < ");
}
