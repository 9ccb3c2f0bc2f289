/**
 * Where the frames of a WebSocket end, as far as a server's own bytes tell (RFC 6455, section 5.2): nothing may be put in
 * between before that. Only the heads of frames are looked at; a payload is counted, not read.
 */

export class FrameBoundary {
  /** Bytes of the answer to the handshake, until it is known what it was. */
  #head: Buffer | null = Buffer.alloc(0);
  /** The beginning of a frame whose length is not known yet. */
  #partial: Buffer = EMPTY;
  /** How much of the payload is still to come. */
  #left = 0;
  /** Between the first and the last fragment of a message. */
  #inMessage = false;
  /** The server has accepted the handshake. */
  accepted = false;
  /** The server has said goodbye itself. */
  closed = false;

  /** No frame has begun that has not ended. */
  get betweenFrames(): boolean {
    return this.accepted && this.#left === 0 && this.#partial.length === 0;
  }

  /** And no message: what the client has got of it would be lost. */
  get betweenMessages(): boolean {
    return this.betweenFrames && !this.#inMessage;
  }

  /** Bytes that the server writes. */
  wrote(bytes: Buffer): void {
    let rest = bytes;
    if (this.#head !== null) {
      const head: Buffer = Buffer.concat([this.#head, bytes]);
      const end = head.indexOf("\r\n\r\n");
      if (end === -1) {
        this.#head = head;
        return;
      }
      this.#head = null;
      this.accepted = head.toString("latin1", 0, 12) === "HTTP/1.1 101";
      rest = head.subarray(end + 4);
    }
    if (this.accepted) {
      this.#frames(rest);
    }
  }

  #frames(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#left -= taken;
        at += taken;
        continue;
      }
      if (this.#partial.length === 0) {
        // As libraries write: the head is whole, and nothing has to be put together.
        const size = headSize(bytes, at);
        if (at + size <= bytes.length) {
          this.#begin(bytes, at);
          at += size;
          continue;
        }
      }
      // A head has 2 to 14 bytes; what there is of it is enough to know how many.
      const before = this.#partial.length;
      const more = bytes.subarray(at, at + LONGEST_HEAD - before);
      const head: Buffer = before === 0 ? more : Buffer.concat([this.#partial, more]);
      const size = headSize(head, 0);
      if (head.length < size) {
        this.#partial = Buffer.from(head);
        return;
      }
      this.#partial = EMPTY;
      at += size - before;
      this.#begin(head, 0);
    }
  }

  #begin(bytes: Buffer, at: number): void {
    const first = bytes[at] ?? 0;
    const opcode = first & 0x0f;
    const length = (bytes[at + 1] ?? 0) & 0x7f;
    this.#left =
      length < 126
        ? length
        : length === 126
          ? bytes.readUInt16BE(at + 2)
          : Number(bytes.readBigUInt64BE(at + 2));
    if (opcode === CLOSE) {
      this.closed = true;
    } else if (opcode < CLOSE) {
      this.#inMessage = (first & 0x80) === 0;
    }
  }
}

const EMPTY: Buffer = Buffer.alloc(0);
const CLOSE = 8;
const LONGEST_HEAD = 14;

function headSize(bytes: Buffer, at: number): number {
  const second = bytes[at + 1];
  if (second === undefined) {
    return 2;
  }
  const length = second & 0x7f;
  return 2 + (length < 126 ? 0 : length === 126 ? 2 : 8) + ((second & 0x80) === 0 ? 0 : 4);
}

/** A close frame as a server sends it: whole, without a mask. */
export function closeFrame(code: number, reason: string): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(code);
  payload.write(reason, 2);
  return Buffer.concat([Buffer.from([0x80 | CLOSE, payload.length]), payload]);
}
