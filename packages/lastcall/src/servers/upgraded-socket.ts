/**
 * One connection that HTTP/1.1 has handed over. Of a WebSocket what the app writes is followed, so that a close frame can
 * be put between two of its messages, whatever library writes them; of anything else nothing is known.
 */

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Host, Undo } from "../host.ts";
import { reset } from "./connections.ts";
import { closeFrame, FrameBoundary } from "./frames.ts";
import { routeOf } from "./http-exchange.ts";

/** Going away (RFC 6455, section 7.4.1): every client knows it, and tries again. */
const GOING_AWAY: Buffer = closeFrame(1001, "restart");

/** How long a client may take to answer a close frame, and a message to end before one is put into its middle. */
const ANSWER_MS = 1000;

type Write = Socket["write"];

export class UpgradedSocket {
  readonly socket: Socket;
  readonly startedAt: number;
  readonly route: string;
  readonly #host: Host;
  readonly #frames: FrameBoundary | null;
  readonly #write: Write;
  #asked: "no" | "politely" | "firmly" = "no";
  #told = false;
  #wait: Undo = () => {};

  constructor(host: Host, request: IncomingMessage, socket: Socket) {
    this.#host = host;
    this.socket = socket;
    this.startedAt = host.now();
    const protocol = request.method === "CONNECT" ? "" : `${request.headers.upgrade} `;
    this.route = `${protocol}${routeOf(request.method, request.url)}`;
    this.#frames = request.headers.upgrade?.toLowerCase() === "websocket" ? new FrameBoundary() : null;
    this.#write = socket.write;
    if (this.#frames !== null) {
      this.#follow(this.#frames);
    }
    socket.once("close", () => this.#wait());
  }

  /** Whether there is a protocol on it in which it can be told to leave. */
  get isWebSocket(): boolean {
    return this.#frames?.accepted === true;
  }

  /** Whether it got its close frame from us. */
  get told(): boolean {
    return this.#told;
  }

  /** Sends the close frame as soon as no message is on its way, then waits for the answer and ends the connection. */
  tell(): void {
    if (this.#asked === "no" && this.#frames !== null) {
      this.#asked = "politely";
      this.#wait = this.#host.setTimer(ANSWER_MS, () => {
        this.#asked = "firmly";
        this.#tellIfPossible();
      });
      this.#tellIfPossible();
    }
  }

  /** The deadline. True when it was cut in the middle of something. */
  cut(): boolean {
    if (this.socket.destroyed) {
      return false;
    }
    this.#asked = "firmly";
    this.#tellIfPossible();
    if (this.#told || this.#frames?.closed === true) {
      this.socket.destroySoon();
      return false;
    }
    reset(this.socket);
    return true;
  }

  #follow(frames: FrameBoundary): void {
    const { socket } = this;
    const write = this.#write;
    // Every message passes here: no list of arguments, no copy.
    const following = (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
      if (this.#told) {
        // Nothing may follow a close frame (RFC 6455, section 5.5.1): browsers take it for an error. The library
        // believes that it was sent; to it, it is the client who closes.
        const done = typeof encoding === "function" ? encoding : callback;
        if (typeof done === "function") {
          queueMicrotask(() => done(null));
        }
        return true;
      }
      frames.wrote(bytesOf(chunk, encoding));
      const more = write.call(socket, chunk as string, encoding as BufferEncoding, callback as () => void);
      if (this.#asked !== "no") {
        this.#tellIfPossible();
      }
      return more;
    };
    socket.write = following;
  }

  #tellIfPossible(): void {
    const frames = this.#frames;
    if (frames === null || this.#told) {
      return;
    }
    if (frames.closed || this.socket.writableEnded) {
      // The app has said it; what remains is the wait.
      this.#expectEnd();
    } else if (this.#asked === "firmly" ? frames.betweenFrames : frames.betweenMessages) {
      this.#told = true;
      Reflect.apply(this.#write, this.socket, [GOING_AWAY]);
      this.#expectEnd();
    }
  }

  /** A library ends the connection when the answer comes; where nobody does, it ends here. */
  #expectEnd(): void {
    this.#wait();
    this.#wait = this.#host.setTimer(ANSWER_MS, () => this.socket.destroySoon());
  }
}

function bytesOf(chunk: unknown, encoding: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) {
    return chunk;
  }
  if (typeof chunk === "string") {
    return Buffer.from(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8");
  }
  const { buffer, byteOffset, byteLength } = chunk as Uint8Array;
  return Buffer.from(buffer, byteOffset, byteLength);
}
