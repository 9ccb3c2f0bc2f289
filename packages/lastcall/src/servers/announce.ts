/**
 * `Connection: close` on every response whose head is still unwritten, whatever the app sets. Only wrapping `writeHead`
 * wins: a `writeHead(status, upstreamHeaders)` with keep-alive beats `setHeader`, and `shouldKeepAlive` too (Node 20-26).
 */

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";

type HeaderInput = OutgoingHttpHeaders | readonly unknown[];
type WriteHead = (status: number, ...rest: unknown[]) => ServerResponse;

/** Makes `response` announce the end of its connection, if `isLast` still says so when its head is written. */
export function announceOn(response: ServerResponse, isLast: () => boolean): void {
  if (response.headersSent) {
    return;
  }
  const original = response.writeHead as unknown as WriteHead;
  const announcing: WriteHead = function announcing(this: ServerResponse, status, ...rest) {
    // 101 hands the connection over to another protocol; its end is that protocol's own affair.
    if (status === 101 || !isLast()) {
      return original.call(this, status, ...rest);
    }
    if (this.hasHeader("keep-alive")) {
      this.removeHeader("keep-alive");
    }
    const hasReason = typeof rest[0] === "string";
    const headers = (hasReason ? rest[1] : (rest[1] ?? rest[0])) as HeaderInput | undefined;
    if (headers === undefined || headers === null) {
      this.setHeader("Connection", "close");
      return original.call(this, status, ...rest);
    }
    const closing = withClose(headers);
    return hasReason ? original.call(this, status, rest[0], closing) : original.call(this, status, closing);
  };
  response.writeHead = announcing;
}

/** The same headers, in the same one of Node's three shapes, with `Connection: close` in place of what they said. */
function withClose(headers: HeaderInput): HeaderInput {
  if (!Array.isArray(headers)) {
    const kept = Object.entries(headers).filter(([name]) => !isHopByHop(name));
    return { ...Object.fromEntries(kept), Connection: "close" };
  }
  if (Array.isArray(headers[0])) {
    return [...headers.filter((pair) => !isHopByHop((pair as unknown[])[0])), ["Connection", "close"]];
  }
  const flat: unknown[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (!isHopByHop(headers[at])) {
      flat.push(headers[at], headers[at + 1]);
    }
  }
  flat.push("Connection", "close");
  return flat;
}

function isHopByHop(name: unknown): boolean {
  return /^(?:connection|keep-alive)$/i.test(String(name));
}

type Parsing = IncomingMessage["socket"] & { parser?: { getCurrentBuffer?(): Uint8Array } | null };

interface Chunk {
  readonly bytes: Buffer;
  /** Where the next request would begin. */
  readonly offset: number;
}

/**
 * Which response of a connection is the last one. With pipelining only the answer to the last request received may
 * announce: Node closes after it, and the answers behind it would never be sent.
 */
export class LastRequests {
  readonly #newest = new WeakMap<object, IncomingMessage>();
  readonly #chunks = new WeakMap<object, Chunk>();

  /** A request has been received; call in the order of arrival. */
  received(request: IncomingMessage, parsing: boolean): void {
    this.#newest.set(request.socket, request);
    if (parsing) {
      this.#advance(request);
    }
  }

  isLast(request: IncomingMessage): boolean {
    return this.#newest.get(request.socket) === request && !this.#chunks.has(request.socket);
  }

  /**
   * A handler may answer before the parser has come to the next request of the same chunk, so we follow the chunk while
   * it is parsed: heads end at an empty line, bodies have a length. A chunk is kept only while something follows in it,
   * be it the first half of a head. `getCurrentBuffer` is not documented (Node 20 to 26 have it); without it only
   * requests that were already emitted are known.
   */
  #advance(request: IncomingMessage): void {
    const socket = request.socket as Parsing;
    const current = socket.parser?.getCurrentBuffer?.();
    if (current === undefined) {
      return;
    }
    const bytes = Buffer.from(current.buffer, current.byteOffset, current.byteLength);
    const followed = this.#chunks.get(socket);
    const offset = followed !== undefined && followed.bytes.equals(bytes) ? followed.offset : 0;
    const headEnd = bytes.indexOf("\r\n\r\n", offset);
    const isCounted = request.headers["transfer-encoding"] === undefined;
    const next = headEnd + 4 + Number(request.headers["content-length"] ?? 0);
    if (headEnd === -1 || !isCounted || next >= bytes.length) {
      this.#chunks.delete(socket);
    } else {
      this.#chunks.set(socket, { bytes, offset: next });
    }
  }
}
