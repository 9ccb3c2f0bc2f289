/**
 * A raw HTTP/1.1 client connection that writes exactly what it is told and notes every chunk, FIN and RST with its time.
 * No pool, no retry, no parser in the way: what a clause claims about a socket is read off the socket. Here is what it
 * says and hears; `open-wire.ts` makes one.
 */

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
  /** Read nothing of the answer for so many milliseconds: how a large answer is made long. */
  readonly readAfterMs?: number;
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
  /** Resolves when at least this many bytes have come; with false when the connection ended before, or the time. */
  received(bytes: number, timeoutMs?: number): Promise<boolean>;
  /** Waits for what has come and was not taken as an answer; false when the connection ends or the time is over before. */
  until(holds: (unread: Buffer) => boolean, timeoutMs: number): Promise<boolean>;
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

export interface OpenOptions {
  /** Keep our writing side open after the other side's FIN. Default: false. */
  readonly allowHalfOpen?: boolean;
  /** Speak plain TCP to a TLS port, to stand in the middle of a handshake. Default: false. */
  readonly bare?: boolean;
  /** Connect at once, and begin the TLS handshake only when this has resolved. */
  readonly handshakeAfter?: Promise<void>;
}
