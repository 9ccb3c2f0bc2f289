/** WebSocket frames (RFC 6455) as a client meets them: the server's, without a mask, and the two that it sends itself. */

import { randomBytes } from "node:crypto";

export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

export const CLOSE = 8;

/** The whole frames at the beginning of `bytes`. */
export function readFrames(bytes: Buffer): readonly Frame[] {
  const frames: Frame[] = [];
  let at = 0;
  for (;;) {
    if (bytes.length < at + 2) {
      return frames;
    }
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const start = at + 2 + (short === 126 ? 2 : short === 127 ? 8 : 0);
    if (bytes.length < start) {
      return frames;
    }
    const length =
      short === 126
        ? bytes.readUInt16BE(at + 2)
        : short === 127
          ? Number(bytes.readBigUInt64BE(at + 2))
          : short;
    if (bytes.length < start + length) {
      return frames;
    }
    frames.push({ opcode: (bytes[at] ?? 0) & 0x0f, payload: bytes.subarray(start, start + length) });
    at = start + length;
  }
}

/** The first close frame. */
export function closeFrameIn(bytes: Buffer): Frame | undefined {
  return readFrames(bytes).find(({ opcode }) => opcode === CLOSE);
}

/** The code of a close frame; 1005 where it carries none. */
export function closeCode(frame: Frame): number {
  return frame.payload.length < 2 ? 1005 : frame.payload.readUInt16BE(0);
}

/** A client's answer to a close frame, masked as a client must. */
export function closeAnswer(frame: Frame): Buffer {
  const mask = randomBytes(4);
  const payload = Buffer.from(frame.payload.subarray(0, 2).map((byte, at) => byte ^ (mask[at] ?? 0)));
  return Buffer.concat([Buffer.from([0x80 | CLOSE, 0x80 | payload.length]), mask, payload]);
}

/** A client's request for a WebSocket. */
export function upgradeHeaders(): Readonly<Record<string, string>> {
  return {
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
  };
}
