/**
 * What the main thread and the watchdog's thread share: the last beat, until when there must be another, and the record. Written
 * by the one and read by the other, without either ever waiting.
 */

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

/** One writes into the slot that the other does not read. */
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
