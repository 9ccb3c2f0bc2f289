/**
 * An HTTP/2 client by hand, which does what RFC 9113 asks and no more: after a GOAWAY it opens no stream, a stream above
 * the last id is safe to retry, one that is at or below it and gets no answer is lost. Node's own client fails streams
 * for reasons of its own. The lab has a larger one for strange services; this package is tested without the lab.
 */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { TEST_ONLY_CERTIFICATE } from "../fixtures/test-only-certificate.ts";
import type { Over } from "./rig.ts";

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
/** RFC 9113, section 8.7: safe to retry, like a stream above the last id. */
const REFUSED_STREAM = 7;

/** `:status: 200` of HPACK's static table; nghttp2 always writes it so. */
const STATUS_200 = 0x88;

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export interface Stream {
  readonly id: number;
  status: "none" | "200" | "other";
  /** `whole`: answered to its end. `reset`: RST_STREAM. `refused`: RST_STREAM that says nothing was done. `open`: none. */
  end: "open" | "whole" | "reset" | "refused";
  body: string;
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A literal without indexing, its name out of the static table. */
function literal(nameIndex: number, value: string): Buffer {
  return Buffer.concat([Buffer.from([nameIndex, value.length]), Buffer.from(value)]);
}

export class Http2Client {
  readonly socket: Socket;
  readonly streams: Map<number, Stream> = new Map();
  /** The last stream id of each GOAWAY. */
  readonly goaways: number[] = [];
  /** How the connection ended. */
  readonly closed: Promise<void>;
  /** Whether PINGs and GOAWAYs are followed; a client that is deaf to them is a bad one. */
  polite = true;
  #next = 1;
  #received: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      socket.on("close", () => {
        resolve();
      });
    });
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)));
  }

  static async connect(port: number, over: Over = "plain"): Promise<Http2Client> {
    const socket =
      over === "TLS"
        ? connectTls({ port, host: "127.0.0.1", ca: TEST_ONLY_CERTIFICATE, ALPNProtocols: ["h2"] })
        : connect({ port, host: "127.0.0.1", noDelay: true });
    await once(socket, over === "TLS" ? "secureConnect" : "connect");
    return new Http2Client(socket);
  }

  /** Whether a new stream may be opened here. */
  get open(): boolean {
    return !this.socket.destroyed && (this.goaways.length === 0 || !this.polite);
  }

  /** Opens a stream; with `body` it stays half open until `finish`. */
  request(path: string, body?: "body follows", method = "GET"): Stream {
    const stream: Stream = { id: this.#next, status: "none", end: "open", body: "" };
    this.#next += 2;
    this.streams.set(stream.id, stream);
    const block = Buffer.concat([
      method === "GET" ? Buffer.from([0x82]) : literal(2, method),
      Buffer.from([0x86]),
      literal(4, path),
      literal(1, "x"),
    ]);
    this.socket.write(frame(HEADERS, END_HEADERS | (body === undefined ? END_STREAM : 0), stream.id, block));
    return stream;
  }

  /** Sends a part of a request's body. */
  send(stream: Stream, bytes: string, last = false): void {
    this.socket.write(frame(DATA, last ? END_STREAM : 0, stream.id, Buffer.from(bytes)));
  }

  /** Resolves when `condition` holds; rejects when the connection closes first. Looks often: not all that is asked is ours. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setInterval(() => {
        if (condition()) {
          clearInterval(timer);
          resolve();
        } else if (this.socket.destroyed) {
          clearInterval(timer);
          reject(new Error("The connection closed first."));
        }
      }, 2);
    });
  }

  /** What became of the streams, as RFC 9113 has it. */
  tally(): {
    readonly answered: number;
    readonly other: number;
    readonly retry: number;
    readonly lost: number;
  } {
    const last = Math.min(...this.goaways);
    const tally = { answered: 0, other: 0, retry: 0, lost: 0 };
    for (const { id, end, status } of this.streams.values()) {
      if (end === "whole") {
        tally[status === "200" ? "answered" : "other"] += 1;
      } else {
        tally[id > last || end === "refused" ? "retry" : "lost"] += 1;
      }
    }
    return tally;
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    let at = 0;
    while (this.#received.length - at >= 9) {
      const end = at + 9 + this.#received.readUIntBE(at, 3);
      if (this.#received.length < end) {
        break;
      }
      this.#handle({
        type: this.#received[at + 3] ?? 0,
        flags: this.#received[at + 4] ?? 0,
        stream: this.#received.readUInt32BE(at + 5) & 0x7fffffff,
        payload: this.#received.subarray(at + 9, end),
      });
      at = end;
    }
    this.#received = this.#received.subarray(at);
  }

  #handle({ type, flags, stream: id, payload }: Frame): void {
    const stream = this.streams.get(id);
    if (type === SETTINGS && (flags & ACK) === 0) {
      this.socket.write(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
    } else if (type === PING && (flags & ACK) === 0 && this.polite) {
      this.socket.write(frame(PING, ACK, 0, payload));
    } else if (type === GOAWAY) {
      this.goaways.push(payload.readUInt32BE(0) & 0x7fffffff);
    } else if (type === RST_STREAM && stream !== undefined && stream.end === "open") {
      stream.end = payload.readUInt32BE(0) === REFUSED_STREAM ? "refused" : "reset";
    } else if ((type === HEADERS || type === DATA) && stream !== undefined) {
      if (type === HEADERS && stream.status === "none") {
        stream.status = payload[0] === STATUS_200 ? "200" : "other";
      } else if (type === DATA) {
        stream.body += payload.toString("latin1");
        const size = Buffer.alloc(4);
        size.writeUInt32BE(payload.length);
        if (payload.length > 0) {
          this.socket.write(frame(WINDOW_UPDATE, 0, 0, size));
        }
      }
      if ((flags & END_STREAM) !== 0) {
        stream.end = "whole";
      }
    }
  }
}
