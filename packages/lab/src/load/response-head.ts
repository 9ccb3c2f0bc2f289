/**
 * One head of a response, read in one pass over its bytes. Names are compared as bytes and only what a record keeps becomes a
 * string: a head of ten lines costs no more than the three that matter.
 */

const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;
const COLON = 58;
const ZERO = 48;
/** A length of more digits than this is no exact number. */
const LENGTH_DIGITS = 15;

/** Of names and values: in lower case. */
type Word = readonly number[];
const word = (letters: string): Word => [...Buffer.from(letters, "latin1")];
const HTTP_1: Word = word("HTTP/1.");
const CLOSE = word("close");
const KEEP_ALIVE = word("keep-alive");
const JSON_TYPE = word("json");
const CONNECTION = word("connection");
const CONTENT_DIGEST = word("content-digest");
const CONTENT_LENGTH = word("content-length");
const CONTENT_TYPE = word("content-type");
const COPY = word("x-lastcall-copy");
const TRAILER = word("trailer");
const TRANSFER_ENCODING = word("transfer-encoding");
const UPSTREAM = word("x-lastcall-upstream");

/** Of `content-digest: sha-256=:BASE64:` (RFC 9530). */
export function sha256In(value: string): string | null {
  return /sha-256=:([A-Za-z0-9+/=]+):/.exec(value)?.[1] ?? null;
}

/** Whether the word stands at this place, whatever the case of its letters. */
function stands(bytes: Buffer, at: number, expected: Word): boolean {
  for (let i = 0; i < expected.length; i += 1) {
    if (((bytes[at + i] ?? 0) | 0x20) !== expected[i]) {
      return false;
    }
  }
  return true;
}

function holds(bytes: Buffer, from: number, to: number, expected: Word): boolean {
  for (let at = from; at + expected.length <= to; at += 1) {
    if (stands(bytes, at, expected)) {
      return true;
    }
  }
  return false;
}

function text(bytes: Buffer, from: number, to: number): string {
  return bytes.toString("latin1", from, to).trim();
}

function digit(bytes: Buffer, at: number): number {
  const value = (bytes[at] ?? 0) - ZERO;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

/** The number that stands alone between spaces, or -1. */
function length(bytes: Buffer, from: number, to: number): number {
  let start = from;
  let end = to;
  while (start < end && (bytes[start] === SPACE || bytes[start] === TAB)) {
    start += 1;
  }
  while (end > start && (bytes[end - 1] === SPACE || bytes[end - 1] === TAB)) {
    end -= 1;
  }
  if (start === end || end - start > LENGTH_DIGITS) {
    return -1;
  }
  let value = 0;
  for (let at = start; at < end; at += 1) {
    value = value * 10 + digit(bytes, at);
  }
  return Number.isNaN(value) ? -1 : value;
}

export class ResponseHead {
  status = 0;
  /** Content-Length; null without one. */
  promised: number | null = null;
  /** Whether the server lets the connection live. */
  keepAlive = true;
  isChunked = false;
  /** `x-lastcall-copy` and `x-lastcall-upstream`. */
  copy: string | null = null;
  upstream: string | null = null;
  /** The body is JSON. */
  json = false;
  /** SHA-256 of the body as promised here, */
  digest: string | null = null;
  /** or behind the body. */
  digestComes = false;
  /** It is no head of HTTP/1. */
  broken = false;

  reset(): void {
    this.status = 0;
    this.promised = null;
    this.keepAlive = true;
    this.isChunked = false;
    this.copy = null;
    this.upstream = null;
    this.json = false;
    this.digest = null;
    this.digestComes = false;
    this.broken = false;
  }

  /** Reads one head that begins at `start`; the offset behind it, or -1 when it is broken or not complete. */
  read(bytes: Buffer, start: number, end: number): number {
    this.reset();
    for (let i = 0; i < HTTP_1.length && start + i < end; i += 1) {
      // The one word that is written in capitals.
      if (bytes[start + i] !== HTTP_1[i]) {
        this.broken = true;
        return -1;
      }
    }
    let lineAt = start;
    let colonAt = -1;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at];
      if (byte === COLON) {
        if (colonAt < 0) {
          colonAt = at;
        }
      } else if (byte === LF) {
        const lineEnd = at > lineAt && bytes[at - 1] === CR ? at - 1 : at;
        if (lineAt === start) {
          this.#statusLine(bytes, lineAt, lineEnd);
        } else if (lineEnd === lineAt) {
          return at + 1;
        } else if (colonAt <= lineAt) {
          this.broken = true;
        } else {
          this.#header(bytes, lineAt, colonAt, lineEnd);
        }
        if (this.broken) {
          return -1;
        }
        lineAt = at + 1;
        colonAt = -1;
      }
    }
    return -1;
  }

  /** `HTTP/1.1 200 OK`, or without its reason. */
  #statusLine(bytes: Buffer, start: number, end: number): void {
    const at = start + HTTP_1.length;
    const minor = digit(bytes, at);
    const status = digit(bytes, at + 2) * 100 + digit(bytes, at + 3) * 10 + digit(bytes, at + 4);
    const framed = bytes[at + 1] === SPACE && (end === at + 5 || (end > at + 5 && bytes[at + 5] === SPACE));
    if ((minor !== 0 && minor !== 1) || !framed || !(status >= 100 && status <= 599)) {
      this.broken = true;
      return;
    }
    this.status = status;
    this.keepAlive = minor === 1;
  }

  #header(bytes: Buffer, at: number, colonAt: number, end: number): void {
    const from = colonAt + 1;
    // The length of the name tells most of them apart.
    switch (colonAt - at) {
      case TRAILER.length:
        if (stands(bytes, at, TRAILER)) {
          this.digestComes = holds(bytes, from, end, CONTENT_DIGEST);
        }
        break;
      case CONNECTION.length:
        if (stands(bytes, at, CONNECTION)) {
          if (holds(bytes, from, end, CLOSE)) {
            this.keepAlive = false;
          } else if (holds(bytes, from, end, KEEP_ALIVE)) {
            this.keepAlive = true;
          }
        }
        break;
      case CONTENT_TYPE.length:
        if (stands(bytes, at, CONTENT_TYPE)) {
          this.json = holds(bytes, from, end, JSON_TYPE);
        }
        break;
      case CONTENT_LENGTH.length:
        if (stands(bytes, at, CONTENT_LENGTH)) {
          this.#promise(length(bytes, from, end));
        } else if (stands(bytes, at, CONTENT_DIGEST)) {
          this.digest = sha256In(text(bytes, from, end));
        }
        break;
      case COPY.length:
        if (stands(bytes, at, COPY)) {
          this.copy = text(bytes, from, end);
        }
        break;
      case TRANSFER_ENCODING.length:
        if (stands(bytes, at, TRANSFER_ENCODING)) {
          this.isChunked = /(^|[\s,])chunked$/i.test(text(bytes, from, end));
        }
        break;
      case UPSTREAM.length:
        if (stands(bytes, at, UPSTREAM)) {
          this.upstream = text(bytes, from, end);
        }
        break;
      default:
    }
  }

  /** Two lengths that differ leave nobody knowing where the body ends. */
  #promise(bytes: number): void {
    if (bytes < 0 || (this.promised !== null && this.promised !== bytes)) {
      this.broken = true;
    }
    this.promised = bytes;
  }
}
