/**
 * Reads one HTTP/1.1 response from chunks of bytes: its status, its framing, how much of its body came, and who made it.
 * It keeps no body and allocates next to nothing, since it runs for each request of the load.
 */

import { createHash, type Hash } from "node:crypto";
import { ChunkedBody } from "./chunked-body.ts";

/** A head larger than this is not one we want to wait for. */
const HEAD_LIMIT_BYTES = 64 * 1024;
/** How much of a JSON body is kept to look for a `pid`. */
const SAMPLE_BYTES = 512;

const LF = 10;
const CR = 13;
const COLON = 58;
const PREFIX: readonly number[] = [...Buffer.from("HTTP/1.")];

/** Of `content-digest: sha-256=:BASE64:` (RFC 9530). */
function sha256In(value: string): string | null {
  return /sha-256=:([A-Za-z0-9+/=]+):/.exec(value)?.[1] ?? null;
}

function text(bytes: Buffer, start: number, end: number): string {
  return bytes.toString("latin1", start, end);
}

export type ParserState = "head" | "fixed" | "chunked" | "until-close" | "done" | "broken";

export class ResponseParser {
  state: ParserState = "head";
  status = 0;
  /** Content-Length; null when chunked or close-delimited. */
  promised: number | null = null;
  /** Body bytes so far. */
  got = 0;
  /** Whether the server lets the connection live. */
  keepAlive = true;
  upstream: string | null = null;
  /** Bytes came after the end of the response: the connection is of no use any more. */
  surplus = false;

  /** Is given the bytes of the body. */
  sink: ((bytes: Buffer, start: number, end: number) => void) | null = null;

  #copyHeader: string | null = null;
  #json = false;
  #sample = "";
  #isChunked = false;
  #digest: string | null = null;
  /** The digest stands behind the body. */
  #digestComes = false;
  #hash: Hash | null = null;
  #watch: ((bytes: Buffer, start: number, end: number) => void) | null = null;
  #pending: Buffer | null = null;
  readonly #chunked = new ChunkedBody();

  reset(): void {
    this.state = "head";
    this.surplus = false;
    this.sink = null;
    this.#pending = null;
    this.#resetHead();
  }

  #resetHead(): void {
    this.status = 0;
    this.promised = null;
    this.got = 0;
    this.keepAlive = true;
    this.upstream = null;
    this.#copyHeader = null;
    this.#json = false;
    this.#sample = "";
    this.#isChunked = false;
    this.#digest = null;
    this.#digestComes = false;
    this.#hash = null;
  }

  /** Whether the body is the one that its `content-digest` (SHA-256) promises; null without one. Ask once, when it is done. */
  digestHolds(): boolean | null {
    if (this.#hash === null) {
      return null;
    }
    const promised = this.#digest ?? sha256In(this.#chunked.trailers ?? "");
    return promised === null ? null : promised === this.#hash.digest("base64");
  }

  /** Which copy answered: its header, else the `pid` in a JSON body. */
  get copy(): string | null {
    if (this.#copyHeader !== null || this.#sample === "") {
      return this.#copyHeader;
    }
    return /"pid"\s*:\s*(\d+)/.exec(this.#sample)?.[1] ?? null;
  }

  /** The server has closed its side cleanly: the end of a body that nothing else delimits. */
  end(): void {
    if (this.state === "until-close") {
      this.state = "done";
    }
  }

  /** The first `length` bytes of `chunk` have come. The buffer may be used again afterwards. */
  push(chunk: Buffer, length: number): void {
    let bytes = chunk;
    let end = length;
    let at = 0;
    if (this.state === "head") {
      if (this.#pending !== null) {
        bytes = Buffer.concat([this.#pending, chunk.subarray(0, length)]);
        end = bytes.length;
        this.#pending = null;
      }
      at = this.#heads(bytes, end);
      if (at < 0) {
        return;
      }
    }
    this.#body(bytes, at, end);
  }

  /** Reads heads until one is not interim; the offset of the body, or -1 when there is none yet. */
  #heads(bytes: Buffer, end: number): number {
    let at = 0;
    for (;;) {
      const next = this.#head(bytes, at, end);
      if (this.state === "broken") {
        return -1;
      }
      if (next < 0) {
        if (end - at > HEAD_LIMIT_BYTES) {
          this.state = "broken";
        } else {
          this.#pending = Buffer.from(bytes.subarray(at, end));
        }
        return -1;
      }
      at = next;
      if (this.status >= 200) {
        break;
      }
      if (this.status === 101) {
        // Nobody asked to leave HTTP.
        this.state = "broken";
        return -1;
      }
    }
    if (this.status === 204 || this.status === 304 || (!this.#isChunked && this.promised === 0)) {
      this.state = "done";
    } else if (this.#isChunked) {
      this.promised = null;
      this.#chunked.reset();
      this.#chunked.sink = this.#watcher();
      this.#chunked.trailers = this.#digestComes ? "" : null;
      this.state = "chunked";
    } else if (this.promised === null) {
      this.keepAlive = false;
      this.state = "until-close";
      this.#watch = this.#watcher();
    } else {
      this.state = "fixed";
      this.#watch = this.#watcher();
    }
    return at;
  }

  /** Null for most: nobody looks at a body's bytes. */
  #watcher(): ((bytes: Buffer, start: number, end: number) => void) | null {
    const { sink } = this;
    if (this.#digest === null && !this.#digestComes) {
      return sink;
    }
    const hash = createHash("sha256");
    this.#hash = hash;
    return (bytes, start, end) => {
      hash.update(bytes.subarray(start, end));
      sink?.(bytes, start, end);
    };
  }

  /** Reads one head in one pass; the offset behind it, or -1 when it is not complete. */
  #head(bytes: Buffer, start: number, end: number): number {
    this.#resetHead();
    for (let i = 0; i < PREFIX.length && start + i < end; i += 1) {
      if (bytes[start + i] !== PREFIX[i]) {
        this.state = "broken";
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
          this.state = "broken";
        } else {
          this.#header(bytes, lineAt, colonAt, lineEnd);
        }
        if (this.state === "broken") {
          return -1;
        }
        lineAt = at + 1;
        colonAt = -1;
      }
    }
    return -1;
  }

  #statusLine(bytes: Buffer, at: number, end: number): void {
    const line = text(bytes, at + PREFIX.length, Math.min(end, at + PREFIX.length + 6));
    // "1 200 OK" without its reason.
    const minor = line.charCodeAt(0) - 48;
    const status = Number(line.slice(2, 5));
    const framed = line[1] === " " && (line.length === 5 || line[5] === " ");
    if ((minor !== 0 && minor !== 1) || !framed || !(status >= 100 && status <= 599)) {
      this.state = "broken";
      return;
    }
    this.status = status;
    this.keepAlive = minor === 1;
  }

  #header(bytes: Buffer, at: number, colonAt: number, end: number): void {
    // Most headers are none of ours: the first letter and the length of the name tell.
    const first = (bytes[at] ?? 0) | 0x20;
    if (first !== 0x63 && first !== 0x74 && first !== 0x78) {
      return;
    }
    const name = text(bytes, at, colonAt).toLowerCase();
    switch (name) {
      case "content-length": {
        const value = text(bytes, colonAt + 1, end).trim();
        const length = /^\d{1,15}$/.test(value) ? Number(value) : -1;
        if (length < 0 || (this.promised !== null && this.promised !== length)) {
          this.state = "broken";
        }
        this.promised = length;
        break;
      }
      case "transfer-encoding":
        this.#isChunked = /(^|[\s,])chunked\s*$/i.test(text(bytes, colonAt + 1, end));
        break;
      case "connection": {
        const value = text(bytes, colonAt + 1, end).toLowerCase();
        if (value.includes("close")) {
          this.keepAlive = false;
        } else if (value.includes("keep-alive")) {
          this.keepAlive = true;
        }
        break;
      }
      case "content-digest":
        this.#digest = sha256In(text(bytes, colonAt + 1, end));
        break;
      case "trailer":
        this.#digestComes = /content-digest/i.test(text(bytes, colonAt + 1, end));
        break;
      case "content-type":
        this.#json = text(bytes, colonAt + 1, end).includes("json");
        break;
      case "x-lastcall-copy":
        this.#copyHeader = text(bytes, colonAt + 1, end).trim();
        break;
      case "x-lastcall-upstream":
        this.upstream = text(bytes, colonAt + 1, end).trim();
        break;
      default:
    }
  }

  #body(bytes: Buffer, start: number, end: number): void {
    let at = start;
    if (this.#json && this.#copyHeader === null && this.#sample.length < SAMPLE_BYTES && at < end) {
      // With chunk sizes in between, where chunked: no harm to a search for a pid.
      this.#sample += text(bytes, at, Math.min(end, at + SAMPLE_BYTES - this.#sample.length));
    }
    if (this.state === "fixed") {
      const promised = this.promised ?? 0;
      const taken = Math.min(end - at, promised - this.got);
      this.#watch?.(bytes, at, at + taken);
      this.got += taken;
      at += taken;
      if (this.got === promised) {
        this.state = "done";
      }
    } else if (this.state === "chunked") {
      at = this.#chunked.push(bytes, at, end);
      this.got = this.#chunked.got;
      if (this.#chunked.broken) {
        this.state = "broken";
        return;
      }
      if (this.#chunked.done) {
        this.state = "done";
      }
    } else if (this.state === "until-close") {
      this.#watch?.(bytes, at, end);
      this.got += end - at;
      at = end;
    }
    if (at < end) {
      this.surplus = true;
    }
  }
}
