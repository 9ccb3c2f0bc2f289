/**
 * A WebSocket endpoint by hand (RFC 6455), as much of it as an echo needs: text frames come back, a ping gets its pong,
 * a close frame is answered. Fragments and binary frames are closed with 1003.
 */

import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const UNSUPPORTED = Buffer.from([0x03, 0xeb]);
const MAX_PAYLOAD = 64 * 1024;

export interface Frame {
  readonly opcode: number;
  readonly final: boolean;
  readonly payload: Buffer;
}

/** For `server.on("upgrade", ...)`. Answers `/ws`, and 404 elsewhere. */
export function echoWebSocket(req: IncomingMessage, socket: Duplex, head: Buffer): void {
  const key = req.headers["sec-websocket-key"];
  if (req.url !== "/ws" || key === undefined) {
    socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    return;
  }
  // RFC 6455 section 4.2.2: the key, this fixed id, SHA-1, base64.
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let received = head;
  // The client may vanish at any time; then there is nobody left to answer.
  socket.on("error", () => socket.destroy());
  const read = (bytes: Buffer): void => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const taken = takeFrame(received);
      if (taken === null) return;
      received = taken.rest;
      if (!answer(socket, taken.frame)) return;
    }
  };
  socket.on("data", read);
  read(Buffer.alloc(0));
}

/** False when the conversation is over. */
function answer(socket: Duplex, { opcode, final, payload }: Frame): boolean {
  if (opcode === PONG) return true;
  if (opcode === PING) return socket.write(encodeFrame(PONG, payload)) || true;
  if (opcode === TEXT && final && payload.length <= MAX_PAYLOAD) {
    socket.write(encodeFrame(TEXT, payload));
    return true;
  }
  socket.end(encodeFrame(CLOSE, opcode === CLOSE ? payload.subarray(0, 2) : UNSUPPORTED));
  return false;
}

/** A frame as a server sends it: whole and without a mask. */
export function encodeFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? Buffer.alloc(2) : Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  if (length < 126) head[1] = length;
  else if (length < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, payload]);
}

/** The first whole frame in `bytes`, unmasked, and what follows it; null while it is not all there. */
export function takeFrame(bytes: Buffer): { readonly frame: Frame; readonly rest: Buffer } | null {
  if (bytes.length < 2) return null;
  const [first = 0, second = 0] = bytes;
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const masked = (second & 0x80) !== 0;
  const start = 2 + lengthBytes + (masked ? 4 : 0);
  if (bytes.length < start) return null;
  const length =
    short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  // What is longer than we echo is not waited for: an empty frame of no known kind ends the conversation.
  if (length > MAX_PAYLOAD)
    return { frame: { opcode: 15, final: true, payload: Buffer.alloc(0) }, rest: bytes };
  if (bytes.length < start + length) return null;
  const payload = Buffer.from(bytes.subarray(start, start + length));
  if (masked) {
    const mask = bytes.subarray(start - 4, start);
    for (let n = 0; n < length; n += 1) payload[n] = (payload[n] ?? 0) ^ (mask[n % 4] ?? 0);
  }
  return {
    frame: { opcode: first & 0x0f, final: (first & 0x80) !== 0, payload },
    rest: bytes.subarray(start + length),
  };
}
