/**
 * A raw HTTP/1.1 client connection that writes exactly what it is told and notes every chunk, FIN and RST with its time.
 * No pool, no retry, no parser in the way: what a clause claims about a socket is read off the socket.
 */

import { connect as connectTcp, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { connect as connectTls } from "node:tls";
import { parseResponse } from "./answer.ts";

export type Address =
  | { readonly kind: "tcp"; readonly port: number; readonly tls: boolean }
  | { readonly kind: "unix"; readonly path: string };

/** One thing that happened on a connection. Times are `performance.now()` until a judgement counts them from t0. */
export interface TraceEntry {
  readonly atMs: number;
  readonly what: "connected" | "refused" | "sent" | "received" | "fin" | "reset" | "closed" | "note";
  readonly bytes: number;
  /** The beginning of what was sent or received, an error's code, or the note. */
  readonly text: string;
}

/** What came in answer to one request. `status` is null when no head came. */
export interface Answer {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * `whole`: its marked end came (for a body that lasts until the close, a FIN: nobody can tell that from a cut). Otherwise
   * what came instead: the other side's FIN, a reset, nothing in time, or no connection at all.
   */
  readonly ended: "whole" | "fin" | "reset" | "timeout" | "refused";
  /** When the first byte and the last byte of the response came; null when none did. */
  readonly headAtMs: number | null;
  readonly endAtMs: number;
}

export interface Target {
  readonly method: string;
  readonly path: string;
  /** Send half of a body, and the rest after so many milliseconds: how a request is made long without a slow route. */
  readonly holdBackMs?: number;
}

export interface RequestShape {
  readonly version?: "1.0" | "1.1";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Wire {
  readonly trace: readonly TraceEntry[];
  /** `fin` and `reset` say what the other side did. */
  readonly state: "open" | "fin" | "reset" | "closed";
  send(bytes: string | Buffer): void;
  /** Sends a whole request. */
  request(target: Target, shape?: RequestShape): void;
  /** Reads the next response. Never rejects: the answer says how it ended. */
  answer(options?: { readonly method?: string; readonly timeoutMs?: number }): Promise<Answer>;
  /** Resolves when at least this many bytes have come, with false when the connection ended before. */
  received(bytes: number): Promise<boolean>;
  /** Resolves when the other side has ended the connection, or after the time with `open`. */
  ended(timeoutMs: number): Promise<Wire["state"]>;
  note(text: string): void;
  /** Stops reading, so that the other side's writes pile up. */
  pause(): void;
  /** Sends a FIN and goes on reading. */
  finish(): void;
  /** Leaves with a reset. */
  reset(): void;
  close(): void;
}

/** No connection could be made; `code` is the system's. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: string;
  readonly atMs: number;

  constructor(code: string, atMs: number) {
    super(`The connection was not made: ${code}.`);
    this.code = code;
    this.atMs = atMs;
  }
}

/** The bytes of one request. A request without a body needs no length. */
export function requestBytes(target: Target, shape: RequestShape = {}): string {
  const { version = "1.1", headers = {}, body } = shape;
  const lines = [`${target.method} ${target.path} HTTP/${version}`, "Host: 127.0.0.1"];
  for (const [name, value] of Object.entries(headers)) {
    lines.push(`${name}: ${value}`);
  }
  if (body !== undefined && headers["Content-Length"] === undefined) {
    lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

const TRACE_TEXT = 60;

function glimpse(bytes: Buffer): string {
  return bytes.toString("latin1", 0, TRACE_TEXT).replaceAll("\r\n", "\\r\\n");
}

class OpenWire implements Wire {
  readonly trace: TraceEntry[] = [];
  state: Wire["state"] = "open";
  readonly #socket: Socket;
  #buffered: Buffer = Buffer.alloc(0);
  /** How many bytes had been handed out before the buffer's first one. */
  #consumed = 0;
  /** After how many bytes in all each chunk ended, and when it came. */
  readonly #arrivals: { readonly upTo: number; readonly atMs: number }[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(socket: Socket, halfOpen: boolean) {
    this.#socket = socket;
    socket.setNoDelay(true);
    this.#note("connected", 0, "");
    socket.on("data", (chunk) => {
      this.#buffered = Buffer.concat([this.#buffered, chunk]);
      this.#arrivals.push({ upTo: this.#consumed + this.#buffered.length, atMs: performance.now() });
      this.#note("received", chunk.length, glimpse(chunk));
    });
    socket.on("end", () => {
      // libuv before Node 24 reports a reset that arrives together with data as a clean end. The kernel knows: a write after a FIN
      // succeeds, after a reset it fails. An empty line is what HTTP allows between requests.
      socket.write("\r\n", (error) => {
        if (error) {
          this.#end("reset", "reset", `${(error as NodeJS.ErrnoException).code} on a write after the end`);
        } else {
          this.#end("fin", "fin", "");
        }
        if (!halfOpen) {
          socket.end();
        }
      });
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      // EPIPE is what a write after the other side's reset or FIN meets: only ECONNRESET says which of them it was.
      this.#end("reset", "reset", error.code ?? error.message);
    });
    socket.on("close", () => this.#end("closed", "closed", ""));
  }

  send(bytes: string | Buffer): void {
    const chunk = Buffer.from(bytes);
    this.#note("sent", chunk.length, glimpse(chunk));
    this.#socket.write(chunk);
  }

  request(target: Target, shape?: RequestShape): void {
    if (target.holdBackMs === undefined) {
      this.send(requestBytes(target, shape));
      return;
    }
    const body = "held back";
    const bytes = requestBytes(target, { ...shape, body });
    const half = bytes.length - Math.ceil(body.length / 2);
    this.send(bytes.slice(0, half));
    const rest = setTimeout(() => {
      if (this.state === "open") {
        this.send(bytes.slice(half));
      }
    }, target.holdBackMs);
    rest.unref();
  }

  async answer(options: { method?: string; timeoutMs?: number } = {}): Promise<Answer> {
    const { method = "GET", timeoutMs = 5000 } = options;
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      const parsed = parseResponse(this.#buffered, method);
      const cleanEnd = parsed?.framing === "until close" && this.state === "fin";
      const done = parsed?.complete === true || cleanEnd;
      const timedOut = performance.now() >= deadlineMs;
      if (done || this.state !== "open" || timedOut) {
        const headAtMs = parsed === null ? null : this.#arrivalOf(parsed.headBytes);
        const endAtMs = done && parsed !== null ? this.#arrivalOf(parsed.bytes) : performance.now();
        if (done && parsed !== null) {
          this.#buffered = this.#buffered.subarray(parsed.bytes);
          this.#consumed += parsed.bytes;
        }
        const broken = this.state === "open" ? "timeout" : this.state === "fin" ? "fin" : "reset";
        return {
          status: parsed?.status ?? null,
          headers: parsed?.headers ?? {},
          body: parsed?.body ?? "",
          ended: done ? "whole" : broken,
          headAtMs,
          endAtMs,
        };
      }
      // One change after the other: this loop is the reader.
      await this.#change(deadlineMs - performance.now());
    }
  }

  async received(bytes: number): Promise<boolean> {
    while (this.#consumed + this.#buffered.length < bytes && this.state === "open") {
      await this.#change(5000);
    }
    return this.#consumed + this.#buffered.length >= bytes;
  }

  async ended(timeoutMs: number): Promise<Wire["state"]> {
    const deadlineMs = performance.now() + timeoutMs;
    while (this.state === "open" && performance.now() < deadlineMs) {
      await this.#change(deadlineMs - performance.now());
    }
    return this.state;
  }

  note(text: string): void {
    this.#note("note", 0, text);
  }

  pause(): void {
    this.#socket.pause();
  }

  finish(): void {
    this.#socket.end();
  }

  reset(): void {
    this.#socket.resetAndDestroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  #arrivalOf(bytes: number): number {
    const upTo = this.#consumed + bytes;
    return this.#arrivals.find((arrival) => arrival.upTo >= upTo)?.atMs ?? performance.now();
  }

  #note(what: TraceEntry["what"], bytes: number, text: string): void {
    this.trace.push({ atMs: performance.now(), what, bytes, text });
    for (const wake of this.#waiting) {
      wake();
    }
  }

  #end(state: "fin" | "reset" | "closed", what: TraceEntry["what"], text: string): void {
    // A reset after a FIN leaves the FIN: that is how the response ended.
    if (this.state === "open") {
      this.state = state;
    }
    this.#note(what, 0, text);
  }

  #change(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(1, timeoutMs));
      this.#waiting.add(wake);
    });
  }
}

export interface OpenOptions {
  /** Keep our writing side open after the other side's FIN. Default: false. */
  readonly allowHalfOpen?: boolean;
  /** Speak plain TCP to a TLS port, to stand in the middle of a handshake. Default: false. */
  readonly bare?: boolean;
  /** Connect at once, and begin the TLS handshake only when this has resolved. */
  readonly handshakeAfter?: Promise<void>;
}

/** The subject's certificate is a test's own: who it is does not matter here. */
const TLS_OPTIONS = { rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] };

/** Resolves when `event` comes; rejects with `Refused` when an error comes before. */
function reached(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      socket.destroy();
      reject(new Refused(error.code ?? error.message, performance.now()));
    };
    socket.once("error", refuse);
    socket.once(event, () => {
      socket.removeListener("error", refuse);
      resolve();
    });
  });
}

/** Opens a connection; rejects with `Refused`. */
export async function openWire(address: Address, options: OpenOptions = {}): Promise<Wire> {
  const { allowHalfOpen = false, bare = false, handshakeAfter } = options;
  const tcp =
    address.kind === "unix"
      ? connectTcp({ path: address.path, allowHalfOpen: true })
      : connectTcp({ host: "127.0.0.1", port: address.port, allowHalfOpen: true });
  await reached(tcp, "connect");
  if (address.kind === "unix" || !address.tls || bare) {
    return new OpenWire(tcp, allowHalfOpen);
  }
  // What befalls it from here on the TLS socket tells.
  tcp.on("error", () => {});
  await handshakeAfter;
  const secure = connectTls({ ...TLS_OPTIONS, socket: tcp });
  secure.allowHalfOpen = true;
  await reached(secure, "secureConnect");
  return new OpenWire(secure, allowHalfOpen);
}
