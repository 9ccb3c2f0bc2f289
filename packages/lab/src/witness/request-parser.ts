/**
 * Follows the requests on one connection from chunks of bytes: where each head and each body ends, and by which id it goes. It
 * keeps no body. What it does not understand it says so of, and follows no further.
 */

import { ChunkedBody } from "../load/chunked-body.ts";

const HEAD_LIMIT_BYTES = 64 * 1024;

export interface RequestSeen {
  readonly method: string;
  /** Its `x-request-id`; null without one. */
  readonly id: string | null;
}

export interface RequestEvents {
  readonly head: (request: RequestSeen) => void;
  /** The whole request has come. */
  readonly end: () => void;
}

type State = "head" | "fixed" | "chunked" | "lost";

export class RequestParser {
  readonly #events: RequestEvents;
  readonly #chunked = new ChunkedBody();
  #state: State = "head";
  #pending = "";
  #left = 0;

  constructor(events: RequestEvents) {
    this.#events = events;
  }

  /** Not HTTP/1, or an upgrade: it follows no longer. */
  get lost(): boolean {
    return this.#state === "lost";
  }

  lose(): void {
    this.#state = "lost";
    this.#pending = "";
  }

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.#state !== "lost") {
      if (this.#state === "head") {
        at = this.#head(bytes, at);
      } else if (this.#state === "fixed") {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#left -= taken;
        at += taken;
        if (this.#left === 0) {
          this.#finish();
        }
      } else {
        at = this.#chunked.push(bytes, at, bytes.length);
        if (this.#chunked.broken) {
          this.lose();
        } else if (this.#chunked.done) {
          this.#finish();
        }
      }
    }
  }

  #finish(): void {
    this.#state = "head";
    this.#events.end();
  }

  #head(bytes: Buffer, start: number): number {
    const before = this.#pending.length;
    // Latin-1: one character is one byte, so that offsets stay true.
    const text = this.#pending + bytes.toString("latin1", start);
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) {
      if (text.length > HEAD_LIMIT_BYTES) {
        this.lose();
      } else {
        this.#pending = text;
      }
      return bytes.length;
    }
    this.#pending = "";
    this.#read(text.slice(0, end));
    return start + end + 4 - before;
  }

  #read(head: string): void {
    const [line = "", ...headers] = head.split("\r\n");
    const method = /^([A-Z]+) \S+ HTTP\/1\.[01]$/.exec(line.trimStart())?.[1];
    if (method === undefined) {
      this.lose();
      return;
    }
    let id: string | null = null;
    let length = 0;
    let chunked = false;
    for (const header of headers) {
      const colon = header.indexOf(":");
      const value = header.slice(colon + 1).trim();
      switch (header.slice(0, colon).toLowerCase()) {
        case "x-request-id":
          id = value;
          break;
        case "content-length":
          length = Number(value);
          break;
        case "transfer-encoding":
          chunked = /(^|[\s,])chunked$/i.test(value);
          break;
        case "upgrade":
          this.lose();
          return;
        default:
      }
    }
    if (!Number.isInteger(length) || length < 0) {
      this.lose();
      return;
    }
    this.#events.head({ method, id });
    if (chunked) {
      this.#chunked.reset();
      this.#state = "chunked";
    } else if (length > 0) {
      this.#left = length;
      this.#state = "fixed";
    } else {
      this.#finish();
    }
  }
}
