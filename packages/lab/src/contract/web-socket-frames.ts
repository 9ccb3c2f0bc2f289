/** The frames of a server (RFC 6455) in what it has sent so far, as a witness reads them: whatever they are, in order. */

import { CLOSE, type Message } from "../load/web-socket-frames.ts";

/** The whole frames at the beginning of `bytes`. */
function readFrames(bytes: Buffer): readonly Message[] {
  const frames: Message[] = [];
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
export function closeFrameIn(bytes: Buffer): Message | undefined {
  return readFrames(bytes).find(({ opcode }) => opcode === CLOSE);
}
