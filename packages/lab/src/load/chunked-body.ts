/** Follows a body in chunked encoding, byte by byte where it must and by whole chunks where it can. */

const LF = 10;
const CR = 13;
const SEMICOLON = 59;
/** A chunk size of more hexadecimal digits than this is garbage. */
const SIZE_DIGITS = 12;

type Step = "size" | "extension" | "body" | "body-end" | "trailer" | "trailer-line";

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) {
    return byte - 48;
  }
  const lower = byte | 0x20;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

export class ChunkedBody {
  /** Body bytes so far, without the encoding's own. */
  got = 0;
  done = false;
  broken = false;
  /** Is given the bytes of the body, without the encoding's own. */
  sink: ((bytes: Buffer, start: number, end: number) => void) | null = null;
  /** The lines behind the last chunk, where somebody asks for them. */
  trailers: string | null = null;

  #step: Step = "size";
  #left = 0;
  #digits = 0;

  reset(): void {
    this.got = 0;
    this.done = false;
    this.broken = false;
    this.sink = null;
    this.trailers = null;
    this.#nextChunk();
  }

  #nextChunk(): void {
    this.#step = "size";
    this.#left = 0;
    this.#digits = 0;
  }

  /** Reads from `start` on; the offset behind the last byte that belongs to the body. */
  push(bytes: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end && !this.done && !this.broken) {
      if (this.#step === "body") {
        const taken = Math.min(this.#left, end - at);
        this.sink?.(bytes, at, at + taken);
        this.got += taken;
        this.#left -= taken;
        at += taken;
        if (this.#left === 0) {
          this.#step = "body-end";
        }
      } else {
        this.#byte(bytes[at] ?? 0);
        at += 1;
      }
    }
    return at;
  }

  #byte(byte: number): void {
    if (this.trailers !== null && this.#step.startsWith("trailer")) {
      this.trailers += String.fromCharCode(byte);
    }
    switch (this.#step) {
      case "size": {
        const digit = hexDigit(byte);
        if (digit >= 0 && this.#digits < SIZE_DIGITS) {
          this.#left = this.#left * 16 + digit;
          this.#digits += 1;
        } else if (this.#digits === 0) {
          this.broken = true;
        } else if (byte === LF) {
          this.#sizeRead();
        } else if (byte === CR || byte === SEMICOLON || byte === 32 || byte === 9) {
          this.#step = "extension";
        } else {
          this.broken = true;
        }
        break;
      }
      case "extension":
        if (byte === LF) {
          this.#sizeRead();
        }
        break;
      case "body-end":
        if (byte === LF) {
          this.#nextChunk();
        } else if (byte !== CR) {
          this.broken = true;
        }
        break;
      case "trailer":
        // At the start of a line: an empty one ends the body.
        if (byte === LF) {
          this.done = true;
        } else if (byte !== CR) {
          this.#step = "trailer-line";
        }
        break;
      case "trailer-line":
        if (byte === LF) {
          this.#step = "trailer";
        }
        break;
      case "body":
    }
  }

  #sizeRead(): void {
    this.#step = this.#left === 0 ? "trailer" : "body";
  }
}
