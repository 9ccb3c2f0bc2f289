/** Makes a wire out of a socket, and tells a reset from a FIN. */

import { connect as connectTcp, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { connect as connectTls } from "node:tls";
import { parseResponse } from "./answer.ts";
import { Changes } from "./changes.ts";
import { Http2Wire } from "./http2-wire.ts";
import {
  type Address,
  type Answer,
  type OpenOptions,
  Refused,
  type RequestShape,
  requestBytes,
  type Target,
  type TraceEntry,
  type Wire,
} from "./wire.ts";

const TRACE_TEXT = 60;
/** A service that answers garbage without an end must not fill our memory. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The beginning of some bytes on one line: line ends written out, anything else that does not print as a dot. */
function glimpse(bytes: Buffer): string {
  return bytes
    .toString("latin1", 0, TRACE_TEXT)
    .replaceAll("\r", "\\r")
    .replaceAll("\n", "\\n")
    .replaceAll(/[^ -~]/g, ".");
}

class OpenWire implements Wire {
  readonly trace: TraceEntry[] = [];
  state: Wire["state"] = "open";
  readonly #socket: Socket;
  /** What has come and was not handed out: the end of what `#storage` holds so far. */
  #buffered: Buffer = Buffer.alloc(0);
  #storage: Buffer = Buffer.alloc(0);
  /** How many bytes had been handed out before the buffer's first one. */
  #consumed = 0;
  /** After how many bytes in all each chunk ended, and when it came. */
  readonly #arrivals: { readonly upTo: number; readonly atMs: number }[] = [];
  readonly #changes = new Changes();

  constructor(socket: Socket, halfOpen: boolean) {
    this.#socket = socket;
    socket.setNoDelay(true);
    this.#note("connected", 0, "");
    socket.on("data", (chunk) => {
      this.#append(chunk);
      this.#arrivals.push({ upTo: this.#consumed + this.#buffered.length, atMs: performance.now() });
      this.#note("received", chunk.length, glimpse(chunk));
      if (this.#buffered.length > MOST_BYTES) {
        this.#note("note", 0, "more than any judge asks for: given up");
        socket.destroy();
      }
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
    if (target.readAfterMs !== undefined) {
      this.#socket.pause();
      setTimeout(() => this.#socket.resume(), target.readAfterMs).unref();
    }
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
    const whole = await this.#changes.until(
      () => {
        const parsed = parseResponse(this.#buffered, method);
        const cleanEnd = parsed?.framing === "until close" && this.state === "fin";
        return parsed?.complete === true || cleanEnd ? parsed : null;
      },
      timeoutMs,
      () => this.state !== "open",
    );
    const parsed = whole ?? parseResponse(this.#buffered, method);
    const headAtMs = parsed === null ? null : this.#arrivalOf(parsed.headBytes);
    const endAtMs = whole === null ? performance.now() : this.#arrivalOf(whole.bytes);
    if (whole !== null) {
      this.#buffered = this.#buffered.subarray(whole.bytes);
      this.#consumed += whole.bytes;
    }
    const broken = this.state === "open" ? "timeout" : this.state === "fin" ? "fin" : "reset";
    return {
      status: parsed?.status ?? null,
      headers: parsed?.headers ?? {},
      body: parsed?.body ?? "",
      ended: whole === null ? broken : "whole",
      headAtMs,
      endAtMs,
    };
  }

  async until(holds: (unread: Buffer) => boolean, timeoutMs: number): Promise<boolean> {
    const look = (): true | null => (holds(this.#buffered) ? true : null);
    return (await this.#changes.until(look, timeoutMs, () => this.state !== "open")) ?? false;
  }

  async received(bytes: number, timeoutMs = 5000): Promise<boolean> {
    const enough = (): true | null => (this.#consumed + this.#buffered.length >= bytes ? true : null);
    return (await this.#changes.until(enough, timeoutMs, () => this.state !== "open")) ?? false;
  }

  async ended(timeoutMs: number): Promise<Wire["state"]> {
    const end = (): true | null => (this.state === "open" ? null : true);
    await this.#changes.until(end, timeoutMs);
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

  /** In place where it fits, else into twice the room: a large answer comes in hundreds of chunks. */
  #append(chunk: Buffer): void {
    const size = this.#buffered.length + chunk.length;
    const begin = this.#buffered.byteOffset - this.#storage.byteOffset;
    if (this.#buffered.buffer === this.#storage.buffer && begin + size <= this.#storage.length) {
      chunk.copy(this.#storage, begin + this.#buffered.length);
      this.#buffered = this.#storage.subarray(begin, begin + size);
      return;
    }
    this.#storage = Buffer.allocUnsafeSlow(Math.max(4096, 2 * size));
    this.#buffered.copy(this.#storage);
    chunk.copy(this.#storage, this.#buffered.length);
    this.#buffered = this.#storage.subarray(0, size);
  }

  #arrivalOf(bytes: number): number {
    const upTo = this.#consumed + bytes;
    return this.#arrivals.find((arrival) => arrival.upTo >= upTo)?.atMs ?? performance.now();
  }

  #note(what: TraceEntry["what"], bytes: number, text: string): void {
    this.trace.push({ atMs: performance.now(), what, bytes, text });
    this.#changes.tell();
  }

  #end(state: "fin" | "reset" | "closed", what: TraceEntry["what"], text: string): void {
    // A reset after a FIN leaves the FIN: that is how the response ended.
    if (this.state === "open") {
      this.state = state;
    }
    this.#note(what, 0, text);
  }
}

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

/** A connected socket on which `protocol` is spoken; rejects with `Refused`. */
export async function connectTo(
  address: Address,
  protocol: "http/1.1" | "h2",
  options: OpenOptions = {},
): Promise<Socket> {
  const { bare = false, handshakeAfter } = options;
  const tcp =
    address.kind === "unix"
      ? connectTcp({ path: address.path, allowHalfOpen: true })
      : connectTcp({ host: "127.0.0.1", port: address.port, allowHalfOpen: true });
  await reached(tcp, "connect");
  if (address.kind === "unix" || !address.tls || bare) {
    return tcp;
  }
  // What befalls it from here on the TLS socket tells.
  tcp.on("error", () => {});
  await handshakeAfter;
  // The certificate is a test's own: who it is does not matter here.
  const secure = connectTls({ rejectUnauthorized: false, ALPNProtocols: [protocol], socket: tcp });
  secure.allowHalfOpen = true;
  await reached(secure, "secureConnect");
  return secure;
}

/** Opens a connection for HTTP/1.1; rejects with `Refused`. */
export async function openWire(address: Address, options: OpenOptions = {}): Promise<Wire> {
  return new OpenWire(await connectTo(address, "http/1.1", options), options.allowHalfOpen ?? false);
}

/** Opens one for HTTP/2, known before (plain TCP) or agreed upon (TLS); rejects with `Refused`. */
export async function openHttp2(address: Address, delayMs: number = 0): Promise<Http2Wire> {
  const socket = await connectTo(address, "h2");
  socket.allowHalfOpen = false;
  return new Http2Wire(socket, address.kind === "tcp" && address.tls ? "https" : "http", delayMs);
}
