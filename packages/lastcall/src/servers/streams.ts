/**
 * Responses that would never end by themselves: event streams, long polls, downloads without an end. Each route says when
 * they shall end, and they end in order, with their last chunk.
 */

import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { Host } from "../host.ts";
import { runSpread } from "./spread.ts";

/** When a stream ends: as soon as clients can go elsewhere, when the gate closes, or shortly before the deadline. */
export type StreamPolicy = "end-at-drain" | "end-at-gate" | "keep-until-deadline";

interface Open {
  readonly response: ServerResponse | Http2ServerResponse;
  readonly policy: StreamPolicy;
  readonly lastChunk: string | undefined;
  readonly abort: AbortController;
}

/** Whether it has answered with an event stream, by whatever way its head was written. */
export function isEventStream(response: ServerResponse): boolean {
  // What `writeHead` was given is in no header of the response, only in the text of the head (Node 20 to 26).
  const { _header: head } = response as { readonly _header?: string | null };
  return (
    response.headersSent &&
    /text\/event-stream/i.test(String(response.getHeader("content-type") ?? head ?? ""))
  );
}

export class Streams {
  readonly #host: Host;
  readonly #open = new Set<Open>();
  #phase: "serving" | "told" | "gate" | "deadline" = "serving";
  #hurry = (): void => {};

  constructor(host: Host) {
    this.#host = host;
  }

  /** Returns the signal that aborts when the stream ends, by us or by its client. */
  add(response: Open["response"], policy: StreamPolicy, lastChunk: string | undefined): AbortSignal {
    const stream: Open = { response, policy, lastChunk, abort: new AbortController() };
    this.#open.add(stream);
    response.once("close", () => {
      this.#open.delete(stream);
      stream.abort.abort(new DOMException("The client has gone away.", "AbortError"));
    });
    const gone = policy !== "keep-until-deadline" && this.#phase === "gate";
    if (gone || this.#phase === "deadline") {
      // The handler has its turn first.
      this.#host.afterPoll(() => this.#end(stream));
    }
    // One that begins in the drain delay is kept to its end: its client would only come back to us.
    return stream.abort.signal;
  }

  /** The clients can go elsewhere: over `windowMs`, or all at once. */
  drain(windowMs: number): void {
    if (this.#phase === "serving") {
      this.#phase = "told";
      const some = this.#with("end-at-drain");
      this.#hurry = runSpread(this.#host, some, windowMs, (stream) => this.#end(stream)).hurry;
    }
  }

  /** The gate has closed, and the listener with it. */
  gate(): void {
    this.drain(0);
    if (this.#phase === "told") {
      this.#phase = "gate";
      this.#hurry();
      [...this.#with("end-at-drain"), ...this.#with("end-at-gate")].forEach((stream) => this.#end(stream));
    }
  }

  /** The deadline is near. */
  deadline(): void {
    this.gate();
    this.#phase = "deadline";
    this.#open.forEach((stream) => this.#end(stream));
  }

  #with(policy: StreamPolicy): readonly Open[] {
    return [...this.#open].filter((stream) => stream.policy === policy);
  }

  #end(stream: Open): void {
    if (this.#open.delete(stream)) {
      stream.abort.abort(new DOMException("The service is stopping.", "AbortError"));
      if (!stream.response.writableEnded) {
        (stream.response as ServerResponse).end(stream.lastChunk);
      }
    }
  }
}
