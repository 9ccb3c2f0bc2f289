/**
 * Reads one HTTP/1.1 response from chunks of bytes: its status, its framing, how much of its body came, and who made it.
 * It keeps no body and allocates next to nothing, since it runs for each request of the load.
 */

import { createHash, type Hash } from "node:crypto";
import { ChunkedBody } from "./chunked-body.ts";
import { ResponseHead, sha256In } from "./response-head.ts";

/** A head larger than this is not one we want to wait for. */
const HEAD_LIMIT_BYTES = 64 * 1024;
/** How much of a JSON body is kept to look for a `pid`. */
const SAMPLE_BYTES = 512;

function text(bytes: Buffer, start: number, end: number): string {
  return bytes.toString("latin1", start, end);
}

export type ParserState = "head" | "fixed" | "chunked" | "until-close" | "done" | "broken";

export class ResponseParser {
  state: ParserState = "head";
  /** Body bytes so far. */
  got = 0;
  /** Bytes came after the end of the response: the connection is of no use any more. */
  surplus = false;

  /** Is given the bytes of the body. */
  sink: ((bytes: Buffer, start: number, end: number) => void) | null = null;

  readonly #head = new ResponseHead();
  #sample = "";
  #hash: Hash | null = null;
  #watch: ((bytes: Buffer, start: number, end: number) => void) | null = null;
  #pending: Buffer | null = null;
  readonly #chunked = new ChunkedBody();

  reset(): void {
    this.state = "head";
    this.got = 0;
    this.surplus = false;
    this.sink = null;
    this.#sample = "";
    this.#hash = null;
    this.#pending = null;
    this.#head.reset();
  }

  /** Of the answer; 0 before its head has come. */
  get status(): number {
    return this.#head.status;
  }

  /** Content-Length; null when chunked or close-delimited. */
  get promised(): number | null {
    return this.#head.promised;
  }

  /** Whether the server lets the connection live. */
  get keepAlive(): boolean {
    return this.#head.keepAlive;
  }

  get upstream(): string | null {
    return this.#head.upstream;
  }

  /** Whether the body is the one that its `content-digest` (SHA-256) promises; null without one. Ask once, when it is done. */
  digestHolds(): boolean | null {
    if (this.#hash === null) {
      return null;
    }
    const promised = this.#head.digest ?? sha256In(this.#chunked.trailers ?? "");
    return promised === null ? null : promised === this.#hash.digest("base64");
  }

  /** Which copy answered: its header, else the `pid` in a JSON body. */
  get copy(): string | null {
    if (this.#head.copy !== null || this.#sample === "") {
      return this.#head.copy;
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
    const head = this.#head;
    let at = 0;
    for (;;) {
      const next = head.read(bytes, at, end);
      if (head.broken) {
        this.state = "broken";
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
      if (head.status >= 200) {
        break;
      }
      if (head.status === 101) {
        // Nobody asked to leave HTTP.
        this.state = "broken";
        return -1;
      }
    }
    if (head.status === 204 || head.status === 304 || (!head.isChunked && head.promised === 0)) {
      this.state = "done";
    } else if (head.isChunked) {
      head.promised = null;
      this.#chunked.reset();
      this.#chunked.sink = this.#watcher();
      this.#chunked.trailers = head.digestComes ? "" : null;
      this.state = "chunked";
    } else if (head.promised === null) {
      head.keepAlive = false;
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
    if (this.#head.digest === null && !this.#head.digestComes) {
      return sink;
    }
    const hash = createHash("sha256");
    this.#hash = hash;
    return (bytes, start, end) => {
      hash.update(bytes.subarray(start, end));
      sink?.(bytes, start, end);
    };
  }

  #body(bytes: Buffer, start: number, end: number): void {
    let at = start;
    if (this.#head.json && this.#head.copy === null && this.#sample.length < SAMPLE_BYTES && at < end) {
      // With chunk sizes in between, where chunked: no harm to a search for a pid.
      this.#sample += text(bytes, at, Math.min(end, at + SAMPLE_BYTES - this.#sample.length));
    }
    if (this.state === "fixed") {
      const promised = this.#head.promised ?? 0;
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
