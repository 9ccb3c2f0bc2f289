/**
 * How one HTTP/2 connection is asked to leave. Over plain TCP in two steps (RFC 9113, section 6.8): GOAWAY with the
 * highest stream id, then, when a PING has been to the client and back, GOAWAY with the last stream that came. What the
 * client sent before it knew is served, so no stream is left unanswered.
 */

import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Host, Undo } from "../host.ts";

/**
 * GOAWAY with last stream id 2^31-1 and no error. Node's `goaway()` would make nghttp2 ignore every later stream, so the
 * frame is written beside it: between two writes of nghttp2, which always end with a whole frame (Node 20 to 26).
 */
const FIRST_GOAWAY: Buffer = Buffer.from("0000080700000000007fffffff00000000", "hex");

/** A PING that is not answered for this long is not waited for: a client may be deaf. */
const LONGEST_ROUND_TRIP_MS = 2000;

/** And where the client has sent no stream since, no longer than the usual linger window. */
const QUIET_ROUND_TRIP_MS = 250;

/** How long a client may take to close its side after we have closed ours. */
const PEER_CLOSES_MS = 250;

export class LeavingSession {
  readonly session: ServerHttp2Session;
  /** How many streams are in flight on it, and how many have come since it was asked to leave. */
  streams = 0;
  late = 0;
  readonly #host: Host;
  /** Null where the first GOAWAY cannot be written: over TLS a raw write aborts Node. */
  readonly #raw: Socket | null;
  readonly #socket: Socket | null;
  #giveUp: Undo = () => {};
  #askedAt = 0;
  begun = false;
  #finished = false;

  constructor(host: Host, session: ServerHttp2Session, socket: Socket | null) {
    this.#host = host;
    this.session = session;
    this.#socket = socket;
    this.#raw = session.encrypted === true ? null : socket;
  }

  /** What comes now was sent before the client knew; it is served, be it after the linger window. */
  get isWaiting(): boolean {
    return this.begun && !this.#finished;
  }

  /** The client shall open no more streams. */
  leave(): void {
    if (this.begun) {
      return;
    }
    this.begun = true;
    if (this.#raw === null || this.session.destroyed) {
      this.finish();
      return;
    }
    this.late = 0;
    this.#askedAt = this.#host.now();
    this.#raw.write(FIRST_GOAWAY);
    const asked = this.session.ping(() => this.finish());
    this.#giveUp = this.#host.setTimer(asked ? LONGEST_ROUND_TRIP_MS : 0, () => this.finish());
  }

  /**
   * The linger window is over: nothing is waited for on a connection that nobody uses. Only its PING has its time, counted
   * from when it was sent: on a busy machine that may have been just now.
   */
  endIfIdle(): void {
    if (this.#finished || this.streams > 0 || this.late > 0) {
      return;
    }
    const leftMs = this.#askedAt + QUIET_ROUND_TRIP_MS - this.#host.now();
    if (leftMs <= 0) {
      this.finish();
    } else {
      this.#giveUp();
      // After what has arrived by then was read: a loop that stood still runs its timers first.
      const look = (): void => this.#host.afterPoll(() => this.#endIfQuiet());
      this.#giveUp = this.#host.setTimer(leftMs, look);
    }
  }

  #endIfQuiet(): void {
    if (this.#finished) {
      return;
    }
    if (this.streams === 0 && this.late === 0) {
      this.finish();
    } else {
      this.#giveUp = this.#host.setTimer(LONGEST_ROUND_TRIP_MS, () => this.finish());
    }
  }

  /** No stream that comes from now on is served; the connection closes with the last one that is. */
  finish(): void {
    if (this.#finished) {
      return;
    }
    this.begun = true;
    this.#finished = true;
    this.#giveUp();
    const socket = this.#socket;
    if (socket?.writableFinished === true) {
      // The client has said goodbye by itself.
      this.#expectClose(socket);
    } else {
      socket?.once("finish", () => this.#expectClose(socket));
    }
    if (!this.session.destroyed) {
      this.session.close();
    }
  }

  #expectClose(socket: Socket): void {
    const cancel = this.#host.setTimer(PEER_CLOSES_MS, () => socket.destroy());
    socket.once("close", cancel);
  }
}
