/**
 * A request's line from its bytes, without JSON.parse: a ledger is mostly such lines, and the writer always makes them in the same
 * shape. Whatever has another shape is left to JSON.parse: null.
 */

import type { RequestRecord } from "./records.ts";
import {
  BACKSLASH,
  DOT,
  QUOTE,
  ZERO,
  ID,
  METHOD,
  PATH,
  INTENDED,
  DISPATCHED,
  CONNECTED,
  WRITTEN,
  FIRST_BYTE,
  ENDED,
  FATE,
  STATUS,
  STAGE,
  ERROR,
  CONNECTION,
  REUSE,
  AGE,
  CLOSED_FIRST,
  BYTES,
  GOT,
  COPY,
  UPSTREAM,
} from "./request-keys.ts";

const MINUS = 0x2d;
const LETTER_N = 0x6e;
const CLOSE = 0x7d;
/** With so many digits the sum of digits is exact, and one division by a power of ten rounds it right. */
const EXACT_DIGITS = 15;
const POWERS: readonly number[] = Array.from({ length: EXACT_DIGITS + 1 }, (_, n) => 10 ** n);

/** Thrown and caught in here: a shape that is not the writer's. */
const OTHER_SHAPE: Error = new Error("not the writer's shape");

class Cursor {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  /** Texts that come again and again, by their length and last bytes: made once. */
  readonly #known = new Map<number, string>();

  start(bytes: Buffer, at: number): void {
    this.#bytes = bytes;
    this.#at = at;
  }

  /**
   * Only the first letters and the end are compared: a key of the same length with the same of both is no other key of a request.
   */
  skip(expected: Uint8Array): void {
    const bytes = this.#bytes;
    const at = this.#at;
    const last = expected.length - 1;
    if (
      bytes[at] !== expected[0] ||
      bytes[at + 2] !== expected[2] ||
      bytes[at + 3] !== expected[3] ||
      bytes[at + last - 2] !== expected[last - 2] ||
      bytes[at + last] !== expected[last]
    ) {
      throw OTHER_SHAPE;
    }
    this.#at = at + last + 1;
  }

  number(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    const negative = bytes[at] === MINUS;
    at += negative ? 1 : 0;
    let value = 0;
    let digits = 0;
    let decimals = -1;
    for (; ; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte >= ZERO && byte <= ZERO + 9) {
        value = value * 10 + (byte - ZERO);
        digits += 1;
        decimals += decimals >= 0 ? 1 : 0;
      } else if (byte === DOT && decimals < 0) {
        decimals = 0;
      } else {
        break;
      }
    }
    const next = bytes[at];
    // An exponent, a letter, or too many digits to be exact.
    if (digits === 0 || digits > EXACT_DIGITS || (next !== 0x2c && next !== CLOSE)) {
      throw OTHER_SHAPE;
    }
    this.#at = at;
    const whole = decimals > 0 ? value / (POWERS[decimals] ?? 1) : value;
    return negative ? -whole : whole;
  }

  optional(): number | null {
    return this.#bytes[this.#at] === LETTER_N ? this.#null() : this.number();
  }

  text(): string {
    const bytes = this.#bytes;
    if (bytes[this.#at] !== QUOTE) {
      throw OTHER_SHAPE;
    }
    const from = this.#at + 1;
    let to = from;
    for (; ; to += 1) {
      const byte = bytes[to] ?? 0;
      if (byte === QUOTE) {
        break;
      }
      // An escape, a control character or a letter beyond ASCII.
      if (byte === BACKSLASH || byte < 0x20 || byte > 0x7e) {
        throw OTHER_SHAPE;
      }
    }
    this.#at = to + 1;
    return bytes.toString("latin1", from, to);
  }

  /** A text of which there are few. */
  word(): string {
    const bytes = this.#bytes;
    const from = this.#at + 1;
    let hash = 0;
    let to = from;
    for (; to - from < 12 && bytes[to] !== QUOTE; to += 1) {
      hash = (hash * 31 + (bytes[to] ?? 0)) | 0;
    }
    if (bytes[to] !== QUOTE) {
      return this.text();
    }
    const known = this.#known.get(hash);
    if (known !== undefined && known.length === to - from && this.#same(known, from)) {
      this.#at = to + 1;
      return known;
    }
    const text = this.text();
    if (this.#known.size < 4096) {
      this.#known.set(hash, text);
    }
    return text;
  }

  #same(text: string, from: number): boolean {
    for (let n = 0; n < text.length; n += 1) {
      if (text.charCodeAt(n) !== this.#bytes[from + n]) {
        return false;
      }
    }
    return this.#bytes[from - 1] === QUOTE;
  }

  optionalText(): string | null {
    return this.#bytes[this.#at] === LETTER_N ? this.#null() : this.text();
  }

  optionalWord(): string | null {
    return this.#bytes[this.#at] === LETTER_N ? this.#null() : this.word();
  }

  #null(): null {
    const bytes = this.#bytes;
    if (bytes[this.#at + 1] !== 0x75 || bytes[this.#at + 2] !== 0x6c || bytes[this.#at + 3] !== 0x6c) {
      throw OTHER_SHAPE;
    }
    this.#at += 4;
    return null;
  }

  end(at: number): void {
    if (this.#bytes[this.#at] !== CLOSE || this.#at + 1 !== at) {
      throw OTHER_SHAPE;
    }
  }
}

export interface RequestLines {
  /** The record in the bytes from `from` up to `to`, or null where they have another shape. */
  parse(bytes: Buffer, from: number, to: number): RequestRecord | null;
}

export function requestLines(): RequestLines {
  const cursor = new Cursor();
  function read(to: number): RequestRecord {
    cursor.skip(ID);
    const id = cursor.text();
    cursor.skip(METHOD);
    const method = cursor.word();
    cursor.skip(PATH);
    const path = cursor.text();
    cursor.skip(INTENDED);
    const intendedMs = cursor.number();
    cursor.skip(DISPATCHED);
    const dispatchedMs = cursor.number();
    cursor.skip(CONNECTED);
    const connectedMs = cursor.optional();
    cursor.skip(WRITTEN);
    const writtenMs = cursor.optional();
    cursor.skip(FIRST_BYTE);
    const firstByteMs = cursor.optional();
    cursor.skip(ENDED);
    const endedMs = cursor.number();
    cursor.skip(FATE);
    const fate = cursor.word() as RequestRecord["fate"];
    cursor.skip(STATUS);
    const status = cursor.optional();
    cursor.skip(STAGE);
    const stage = cursor.optionalWord() as RequestRecord["stage"];
    cursor.skip(ERROR);
    const error = cursor.optionalWord();
    cursor.skip(CONNECTION);
    const connectionId = cursor.number();
    cursor.skip(REUSE);
    const reuse = cursor.number();
    cursor.skip(AGE);
    const ageMs = cursor.number();
    cursor.skip(CLOSED_FIRST);
    const closedFirst = cursor.optionalWord() as RequestRecord["connection"]["closedFirst"];
    cursor.skip(BYTES);
    const promised = cursor.optional();
    cursor.skip(GOT);
    const got = cursor.number();
    cursor.skip(COPY);
    const copy = cursor.optionalWord();
    cursor.skip(UPSTREAM);
    const upstream = cursor.optionalText();
    cursor.end(to);
    return {
      kind: "request",
      id,
      method,
      path,
      intendedMs,
      dispatchedMs,
      connectedMs,
      writtenMs,
      firstByteMs,
      endedMs,
      fate,
      status,
      stage,
      error,
      connection: { id: connectionId, reuse, ageMs, closedFirst },
      bytes: { promised, got },
      copy,
      upstream,
    };
  }
  return {
    parse: (bytes, from, to) => {
      if (bytes[from + 9] !== 0x72 || bytes[from + 12] !== 0x75) {
        return null; // Not `{"kind":"request"`: no exception for every event.
      }
      cursor.start(bytes, from);
      try {
        return read(to);
      } catch (error) {
        if (error === OTHER_SHAPE) {
          return null;
        }
        throw error;
      }
    },
  };
}
