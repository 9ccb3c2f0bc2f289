/**
 * The close frame of a server (RFC 6455) in all that it has sent so far. Unlike the load's reader a witness is tolerant: a service
 * that said goodbye has done so, whatever is wrong with the frames before.
 */

import { CLOSE, frameHead } from "../load/web-socket-frames.ts";

/** A copy of its payload. */
export function closeFrameIn(bytes: Buffer): Buffer | null {
  let head = frameHead(bytes, 0);
  while (head !== null && head.end <= bytes.length) {
    if (head.opcode === CLOSE) {
      return Buffer.from(bytes.subarray(head.start, head.end));
    }
    head = frameHead(bytes, head.end);
  }
  return null;
}
