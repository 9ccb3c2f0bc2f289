/** WebSocket frames (RFC 6455) as a client has them: the server's are read as their bytes come, its own are masked. */

import { createHash, randomBytes } from "node:crypto";

const CONTINUATION = 0;
export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

/** More than a load wants to wait for. */
const LIMIT_BYTES = 16 * 1024 * 1024;

/** A message with all its fragments, or a control frame. */
export interface Message {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** What a frame's head says (section 5.2), and where its payload lies. */
export interface FrameHead {
  readonly opcode: number;
  readonly final: boolean;
  readonly reserved: boolean;
  readonly masked: boolean;
  readonly start: number;
  readonly end: number;
}

/** Of the frame at `at`, as one without a mask; null until the head is whole. */
export function frameHead(bytes: Buffer, at: number): FrameHead | null {
  const [first, second] = bytes.subarray(at, at + 2);
  if (first === undefined || second === undefined) {
    return null;
  }
  const short = second & 0x7f;
  const start = at + 2 + (short === 126 ? 2 : short === 127 ? 8 : 0);
  if (bytes.length < start) {
    return null;
  }
  const length =
    short === 126
      ? bytes.readUInt16BE(at + 2)
      : short === 127
        ? Number(bytes.readBigUInt64BE(at + 2))
        : short;
  return {
    opcode: first & 0x0f,
    final: (first & 0x80) !== 0,
    reserved: (first & 0x70) !== 0,
    masked: (second & 0x80) !== 0,
    start,
    end: start + length,
  };
}

/** Messages out of what a server sends. It is strict: what breaks the protocol would break a real client as well. */
export class FrameReader {
  /** What came is no WebSocket: nothing more is read. */
  broken = false;
  #rest: Buffer = Buffer.alloc(0);
  /** The message whose last fragment has not come. */
  #opcode: number | null = null;
  #fragments: Buffer[] = [];

  /** The messages and control frames that these bytes complete. */
  push(bytes: Buffer): readonly Message[] {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const messages: Message[] = [];
    let at = 0;
    for (let head = frameHead(all, at); head !== null; head = frameHead(all, at)) {
      // A server masks nothing, and we have agreed on no extension that could use the reserved bits.
      this.broken ||= head.masked || head.reserved || head.end - head.start > LIMIT_BYTES;
      if (this.broken || all.length < head.end) {
        break;
      }
      at = head.end;
      const message = this.#frame(head, Buffer.from(all.subarray(head.start, at)));
      if (message !== null) {
        messages.push(message);
      }
    }
    // A copy: the buffer of a read is used again.
    this.#rest = Buffer.from(all.subarray(at));
    return messages;
  }

  #frame({ opcode, final }: FrameHead, payload: Buffer): Message | null {
    if (opcode >= CLOSE) {
      this.broken = !final || payload.length > 125 || opcode > PONG;
      return this.broken ? null : { opcode, payload };
    }
    if ((opcode === CONTINUATION) !== (this.#opcode !== null) || opcode > BINARY) {
      this.broken = true;
      return null;
    }
    this.#opcode ??= opcode;
    this.#fragments.push(payload);
    if (!final) {
      return null;
    }
    const whole = { opcode: this.#opcode, payload: Buffer.concat(this.#fragments) };
    this.#opcode = null;
    this.#fragments = [];
    return whole;
  }
}

/** The code of a close frame with this payload; 1005 where it carries none. */
export function closeCode(payload: Buffer): number {
  return payload.length < 2 ? 1005 : payload.readUInt16BE(0);
}

/** A frame of ours: whole, and masked as a client's must be. */
export function clientFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  if (length < 126) {
    head[1] = 0x80 | length;
  } else if (length < 65_536) {
    head[1] = 0x80 | 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  const mask = randomBytes(4);
  const masked = Buffer.from(payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
  return Buffer.concat([head, mask, masked]);
}

/** A client's request for a WebSocket, and the word by which the server shows that it has understood it (section 4.2.2). */
export interface Handshake {
  readonly headers: Readonly<Record<string, string>>;
  readonly accept: string;
}

export function handshake(): Handshake {
  const key = randomBytes(16).toString("base64");
  return {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": key,
    },
    accept: createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64"),
  };
}
