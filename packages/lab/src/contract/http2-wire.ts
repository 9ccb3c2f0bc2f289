/**
 * A raw HTTP/2 connection that does what RFC 9113 asks of a client and no more: after a GOAWAY it opens no stream; a stream
 * above the last id is safe to send again; one at or below it that gets no answer is lost. It can stand at a distance,
 * and it does not close by itself: to close is the server's part.
 */

import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { Changes } from "./changes.ts";
import { readBlock, requestBlock } from "./header-block.ts";
import type { Target, TraceEntry, Wire } from "./wire.ts";

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const CONTINUATION = 9;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
const PADDED = 8;
const PRIORITY = 32;
/** RFC 9113, section 8.7: nothing was done for it; safe to send again, like a stream above the last id. */
const REFUSED_STREAM = 7;
/** No dynamic table, no push. */
const OUR_SETTINGS: Buffer = Buffer.from("000100000000000200000000", "hex");
const LONGEST_TRACE = 400;

export interface Http2Stream {
  readonly id: number;
  readonly sentAtMs: number;
  status: number | null;
  grpcStatus: number | null;
  bodyBytes: number;
  /** `whole`: answered to its end. `reset`: RST_STREAM. `refused`: RST_STREAM that says nothing was done. */
  end: "open" | "whole" | "reset" | "refused";
  endAtMs: number;
}

/** What became of streams, as RFC 9113 has it. */
export interface Tally {
  readonly answered: number;
  /** Not answered, and safe to send again. */
  readonly retry: number;
  readonly lost: number;
}

export interface Goaway {
  readonly lastId: number;
  readonly code: number;
  readonly atMs: number;
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export class Http2Wire {
  readonly trace: TraceEntry[] = [];
  readonly streams: Map<number, Http2Stream> = new Map();
  readonly goaways: Goaway[] = [];
  state: Wire["state"] = "open";
  readonly #socket: Socket;
  readonly #scheme: "http" | "https";
  readonly #delayMs: number;
  readonly #changes = new Changes();
  #next = 1;
  #pings = 0;
  #received: Buffer = Buffer.alloc(0);
  /** The parts of a head that is not complete. */
  #head: Buffer[] = [];
  #headEnds = false;

  /** `delayMs` is one way: half of the round trip. */
  constructor(socket: Socket, scheme: "http" | "https", delayMs: number) {
    this.#socket = socket;
    this.#scheme = scheme;
    this.#delayMs = delayMs;
    socket.setNoDelay(true);
    this.note("connected", "");
    socket.on("data", (chunk: Buffer) => this.#later(() => this.#read(chunk)));
    socket.on("end", () => this.#later(() => this.#end("fin", "fin")));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      this.#later(() => this.#end("reset", error.code ?? error.message)),
    );
    socket.on("close", () => this.#later(() => this.#end("closed", "closed")));
    this.#write(Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    this.#write(frame(SETTINGS, 0, 0, OUR_SETTINGS));
  }

  /** Whether a new stream may be opened here. */
  get open(): boolean {
    return this.state === "open" && this.goaways.length === 0;
  }

  request(
    target: Target,
    shape: { readonly headers?: Readonly<Record<string, string>>; readonly body?: Uint8Array } = {},
  ): Http2Stream {
    const { headers = {}, body } = shape;
    const stream: Http2Stream = {
      id: this.#next,
      sentAtMs: performance.now(),
      status: null,
      grpcStatus: null,
      bodyBytes: 0,
      end: "open",
      endAtMs: 0,
    };
    this.#next += 2;
    this.streams.set(stream.id, stream);
    const block = requestBlock([
      [":method", target.method],
      [":scheme", this.#scheme],
      [":path", target.path],
      [":authority", "127.0.0.1"],
      ...Object.entries(headers),
    ]);
    const held = target.holdBackMs !== undefined;
    const ends = body === undefined && !held ? END_STREAM : 0;
    this.#write(frame(HEADERS, END_HEADERS | ends, stream.id, block));
    if (body !== undefined) {
      this.#write(frame(DATA, END_STREAM, stream.id, body));
    }
    if (held) {
      const last = frame(DATA, END_STREAM, stream.id, Buffer.from("held back"));
      setTimeout(() => this.#write(last), target.holdBackMs).unref();
    }
    this.note("sent", `stream ${stream.id}: ${target.method} ${target.path}`);
    return stream;
  }

  /** Resolves when the stream has ended, the connection too, or the time is over. */
  async ended(stream: Http2Stream, timeoutMs: number = 5000): Promise<Http2Stream> {
    await this.until(() => stream.end !== "open", timeoutMs);
    return stream;
  }

  /** A PING to the other side and back: what was sent before has been read there. False when it does not come. */
  async ping(timeoutMs: number = 5000): Promise<boolean> {
    const before = this.#pings;
    this.#write(frame(PING, 0, 0, Buffer.alloc(8)));
    await this.until(() => this.#pings > before, timeoutMs);
    return this.#pings > before;
  }

  /** Waits until it holds, the connection has ended or the time is over. */
  async until(holds: () => boolean, timeoutMs: number): Promise<void> {
    await this.#changes.until(
      () => (holds() ? true : null),
      timeoutMs,
      () => this.state !== "open",
    );
  }

  tally(): Tally {
    const last = Math.min(...this.goaways.map(({ lastId }) => lastId));
    const tally = { answered: 0, retry: 0, lost: 0 };
    for (const { id, end } of this.streams.values()) {
      tally[end === "whole" ? "answered" : id > last || end === "refused" ? "retry" : "lost"] += 1;
    }
    return tally;
  }

  note(what: TraceEntry["what"], text: string): void {
    if (this.trace.length < LONGEST_TRACE) {
      this.trace.push({ atMs: performance.now(), what, bytes: 0, text });
    }
    this.#changes.tell();
  }

  close(): void {
    this.#socket.destroy();
  }

  #later(run: () => void): void {
    if (this.#delayMs === 0) {
      run();
    } else {
      setTimeout(run, this.#delayMs);
    }
  }

  #write(bytes: Buffer): void {
    this.#later(() => {
      if (!this.#socket.destroyed) {
        this.#socket.write(bytes);
      }
    });
  }

  #end(state: "fin" | "reset" | "closed", text: string): void {
    if (this.state === "open") {
      this.state = state;
    }
    this.note(state, text);
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    let at = 0;
    while (this.#received.length - at >= 9) {
      const end = at + 9 + this.#received.readUIntBE(at, 3);
      if (this.#received.length < end) {
        break;
      }
      const [type = 0, flags = 0] = this.#received.subarray(at + 3, at + 5);
      const id = this.#received.readUInt32BE(at + 5) & 0x7fffffff;
      this.#frame(type, flags, id, this.#received.subarray(at + 9, end));
      at = end;
    }
    this.#received = this.#received.subarray(at);
    this.#changes.tell();
  }

  #frame(type: number, flags: number, id: number, payload: Buffer): void {
    const stream = this.streams.get(id);
    switch (type) {
      case SETTINGS:
        if ((flags & ACK) === 0) {
          this.#write(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
        }
        break;
      case PING:
        if ((flags & ACK) === 0) {
          this.#write(frame(PING, ACK, 0, payload));
        } else {
          this.#pings += 1;
        }
        break;
      case GOAWAY: {
        const lastId = payload.readUInt32BE(0) & 0x7fffffff;
        const code = payload.readUInt32BE(4);
        this.goaways.push({ lastId, code, atMs: performance.now() });
        this.note("received", `GOAWAY, last stream ${lastId}, code ${code}`);
        break;
      }
      case RST_STREAM:
        if (stream?.end === "open") {
          const code = payload.readUInt32BE(0);
          stream.end = code === REFUSED_STREAM ? "refused" : "reset";
          stream.endAtMs = performance.now();
          this.note("received", `stream ${id}: RST_STREAM, code ${code}`);
        }
        break;
      case HEADERS:
      case CONTINUATION:
        this.#headers(stream, type === HEADERS, flags, payload);
        break;
      case DATA:
        if (payload.length > 0) {
          const size = Buffer.alloc(4);
          size.writeUInt32BE(payload.length);
          this.#write(Buffer.concat([frame(WINDOW_UPDATE, 0, 0, size), frame(WINDOW_UPDATE, 0, id, size)]));
        }
        if (stream !== undefined) {
          stream.bodyBytes += payload.length;
          this.#finish(stream, (flags & END_STREAM) !== 0);
        }
        break;
      default:
    }
  }

  #headers(stream: Http2Stream | undefined, isFirst: boolean, flags: number, payload: Buffer): void {
    if (isFirst) {
      const padding = (flags & PADDED) === 0 ? 0 : (payload[0] ?? 0);
      const from = ((flags & PADDED) === 0 ? 0 : 1) + ((flags & PRIORITY) === 0 ? 0 : 5);
      this.#head = [payload.subarray(from, payload.length - padding)];
      this.#headEnds = (flags & END_STREAM) !== 0;
    } else {
      this.#head.push(payload);
    }
    if ((flags & END_HEADERS) === 0 || stream === undefined) {
      return;
    }
    const { status, grpcStatus } = readBlock(Buffer.concat(this.#head));
    stream.status = status !== null && status >= 200 ? status : stream.status;
    stream.grpcStatus = grpcStatus ?? stream.grpcStatus;
    this.#finish(stream, this.#headEnds);
  }

  #finish(stream: Http2Stream, ends: boolean): void {
    if (ends && stream.end === "open") {
      stream.end = "whole";
      stream.endAtMs = performance.now();
      const status = stream.grpcStatus === null ? "" : `, grpc-status ${stream.grpcStatus}`;
      this.note("received", `stream ${stream.id}: ${stream.status ?? "no status"}${status}, whole`);
    }
  }
}
