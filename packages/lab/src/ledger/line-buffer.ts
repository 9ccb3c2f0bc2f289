/**
 * Records as lines of NDJSON in one buffer of bytes. Nearly every record of a run is a request, whose line is put together byte by
 * byte: it is what JSON.stringify would give, at half of its cost and without a string that is thrown away.
 */

import type { LedgerRecord, RequestRecord } from "./records.ts";
import {
  bytesOf,
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

const SIZE_BYTES = 320 * 1024;
/** A request's line without its texts. */
const KEYS_BYTES = 640;

const END = bytesOf("}\n");
const NULL = bytesOf("null");

/** What few requests have: such a one is left to JSON.stringify. */
function isPlain(record: RequestRecord): boolean {
  return (
    record.template === undefined &&
    record.uploaded === undefined &&
    record.events === undefined &&
    record.webSocket === undefined &&
    record.protocol === undefined
  );
}

export class LineBuffer {
  #bytes: Buffer = Buffer.allocUnsafe(SIZE_BYTES);
  #at = 0;

  get length(): number {
    return this.#at;
  }

  /** What has been added so far; it begins anew. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#at);
    this.#bytes = Buffer.allocUnsafe(SIZE_BYTES);
    this.#at = 0;
    return taken;
  }

  add(record: LedgerRecord): void {
    if (record.kind === "request" && isPlain(record)) {
      this.#request(record);
    } else {
      const line = `${JSON.stringify(record)}\n`;
      this.#reserve(line.length * 3);
      this.#at += this.#bytes.write(line, this.#at, "utf8");
    }
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes > this.#bytes.length) {
      const larger = Buffer.allocUnsafe((this.#at + bytes) * 2);
      this.#bytes.copy(larger, 0, 0, this.#at);
      this.#bytes = larger;
    }
  }

  #request(record: RequestRecord): void {
    const { connection, bytes } = record;
    this.#reserve(KEYS_BYTES);
    this.#text(ID, record.id);
    this.#text(METHOD, record.method);
    this.#text(PATH, record.path);
    this.#number(INTENDED, record.intendedMs);
    this.#number(DISPATCHED, record.dispatchedMs);
    this.#number(CONNECTED, record.connectedMs);
    this.#number(WRITTEN, record.writtenMs);
    this.#number(FIRST_BYTE, record.firstByteMs);
    this.#number(ENDED, record.endedMs);
    this.#text(FATE, record.fate);
    this.#number(STATUS, record.status);
    this.#text(STAGE, record.stage);
    this.#text(ERROR, record.error);
    this.#number(CONNECTION, connection.id);
    this.#number(REUSE, connection.reuse);
    this.#number(AGE, connection.ageMs);
    this.#text(CLOSED_FIRST, connection.closedFirst);
    this.#number(BYTES, bytes.promised);
    this.#number(GOT, bytes.got);
    this.#text(COPY, record.copy);
    this.#text(UPSTREAM, record.upstream);
    this.#put(END);
  }

  #put(letters: Uint8Array): void {
    const bytes = this.#bytes;
    const at = this.#at;
    for (let n = 0; n < letters.length; n += 1) {
      bytes[at + n] = letters[n] ?? 0;
    }
    this.#at = at + letters.length;
  }

  #text(key: Uint8Array, text: string | null): void {
    this.#put(key);
    if (text === null) {
      this.#put(NULL);
      return;
    }
    // An escape makes six bytes of a letter. What is reserved for the keys is still there behind it.
    this.#reserve(text.length * 6 + 2 + KEYS_BYTES);
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = QUOTE;
    for (let n = 0; n < text.length; n += 1) {
      const code = text.charCodeAt(n);
      if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) {
        this.#at += bytes.write(JSON.stringify(text), this.#at, "utf8");
        return;
      }
      bytes[at++] = code;
    }
    bytes[at++] = QUOTE;
    this.#at = at;
  }

  /** Times have microseconds at the most: two whole numbers. */
  #number(key: Uint8Array, value: number | null): void {
    this.#put(key);
    if (value === null) {
      this.#put(NULL);
      return;
    }
    const whole = Math.floor(value);
    const thousandths = Math.round((value - whole) * 1000);
    if (
      !(value >= 0 && value < 2 ** 31) ||
      thousandths === 1000 ||
      (whole * 1000 + thousandths) / 1000 !== value
    ) {
      this.#at += this.#bytes.write(JSON.stringify(value), this.#at, "latin1");
      return;
    }
    this.#digits(whole);
    if (thousandths > 0) {
      const bytes = this.#bytes;
      const hundredths = Math.floor(thousandths / 10);
      const tenths = Math.floor(thousandths / 100);
      let at = this.#at;
      bytes[at++] = DOT;
      bytes[at++] = ZERO + tenths;
      if (tenths * 100 !== thousandths) {
        bytes[at++] = ZERO + (hundredths % 10);
        if (hundredths * 10 !== thousandths) {
          bytes[at++] = ZERO + (thousandths % 10);
        }
      }
      this.#at = at;
    }
  }

  #digits(value: number): void {
    const bytes = this.#bytes;
    let count = 1;
    for (let limit = 10; value >= limit; limit *= 10) {
      count += 1;
    }
    let left = value | 0;
    for (let at = this.#at + count - 1; at >= this.#at; at -= 1) {
      const rest = (left / 10) | 0;
      bytes[at] = ZERO + (left - rest * 10);
      left = rest;
    }
    this.#at += count;
  }
}
