/**
 * As much of HPACK (RFC 7541) as a judge needs: request heads written without any compression, and of a response's head
 * the status and one field that holds a number. The client allows no dynamic table, so that each block stands for itself.
 */

/** An integer with a prefix of `bits` bits (RFC 7541, section 5.1). */
function integer(value: number, bits: number, flags: number): Buffer {
  const most = 2 ** bits - 1;
  if (value < most) {
    return Buffer.from([flags | value]);
  }
  const bytes = [flags | most];
  let rest = value - most;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}

function text(value: string): Buffer {
  return Buffer.concat([integer(Buffer.byteLength(value), 7, 0), Buffer.from(value)]);
}

/** A request's head: every field a literal that nobody shall index. */
export function requestBlock(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

/** The names and values of the static table that matter here (RFC 7541, appendix A). */
const STATUSES: Readonly<Record<number, number>> = {
  8: 200,
  9: 204,
  10: 206,
  11: 304,
  12: 400,
  13: 404,
  14: 500,
};

/** Huffman codes of digits and of the letters of `grpc-status` (RFC 7541, appendix B): the code and its bits. */
const HUFFMAN: Readonly<Record<string, readonly [number, number]>> = {
  "0": [0x0, 5],
  "1": [0x1, 5],
  "2": [0x2, 5],
  "3": [0x19, 6],
  "4": [0x1a, 6],
  "5": [0x1b, 6],
  "6": [0x1c, 6],
  "7": [0x1d, 6],
  "8": [0x1e, 6],
  "9": [0x1f, 6],
  "-": [0x16, 6],
  a: [0x3, 5],
  c: [0x4, 5],
  g: [0x26, 6],
  p: [0x2b, 6],
  r: [0x2c, 6],
  s: [0x8, 5],
  t: [0x9, 5],
  u: [0x2d, 6],
};

function bitsOf(value: string): string {
  return value
    .split("")
    .map((letter) => {
      const [code, bits] = HUFFMAN[letter] ?? [0, 0];
      return code.toString(2).padStart(bits, "0");
    })
    .join("");
}

/** A text as its Huffman code, padded with ones to whole bytes. */
export function huffman(value: string): Buffer {
  const bits = bitsOf(value);
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1");
  return Buffer.from(padded.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
}

/** A number out of its digits' Huffman codes; null where it holds anything else. */
function huffmanNumber(bytes: Buffer): number | null {
  let bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  let digits = "";
  while (bits.length >= 5 && !/^1+$/.test(bits)) {
    const digit = "0123456789".split("").find((one) => bits.startsWith(bitsOf(one)));
    if (digit === undefined) {
      return null;
    }
    digits += digit;
    bits = bits.slice(bitsOf(digit).length);
  }
  return digits === "" ? null : Number(digits);
}

class BlockReader {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get more(): boolean {
    return this.at < this.#bytes.length;
  }

  get next(): number {
    return this.#bytes[this.at] ?? 0;
  }

  integer(bits: number): number {
    const most = 2 ** bits - 1;
    let value = this.next & most;
    this.at += 1;
    if (value < most) {
      return value;
    }
    for (let shift = 1; ; shift *= 128) {
      const byte = this.next;
      this.at += 1;
      value += (byte & 127) * shift;
      if (byte < 128) {
        return value;
      }
    }
  }

  text(): { readonly coded: boolean; readonly bytes: Buffer } {
    const coded = this.next >= 128;
    const length = this.integer(7);
    const bytes = this.#bytes.subarray(this.at, this.at + length);
    this.at += length;
    return { coded, bytes };
  }
}

export interface ResponseBlock {
  readonly status: number | null;
  /** The value of `grpc-status`. */
  readonly grpcStatus: number | null;
}

const GRPC_STATUS = "grpc-status";
const STATUS = ":status";
const NAMES: readonly (readonly [string, Buffer])[] = [STATUS, GRPC_STATUS].flatMap((name) => [
  [name, Buffer.from(name)] as const,
  ...(name === GRPC_STATUS ? [[name, huffman(name)] as const] : []),
]);

export function readBlock(bytes: Buffer): ResponseBlock {
  const reader = new BlockReader(bytes);
  let status: number | null = null;
  let grpcStatus: number | null = null;
  while (reader.more) {
    const first = reader.next;
    if (first >= 128) {
      status = STATUSES[reader.integer(7)] ?? status;
      continue;
    }
    if (first >= 32 && first < 64) {
      // The size of the table, which is none.
      reader.integer(5);
      continue;
    }
    const index = reader.integer(first >= 64 ? 6 : 4);
    const written = index === 0 ? reader.text().bytes : null;
    const name =
      written === null
        ? STATUSES[index] === undefined
          ? null
          : STATUS
        : (NAMES.find(([, coded]) => coded.equals(written))?.[0] ?? null);
    const value = reader.text();
    const number = value.coded ? huffmanNumber(value.bytes) : Number(value.bytes.toString("latin1"));
    if (name === STATUS) {
      status = number;
    } else if (name === GRPC_STATUS) {
      grpcStatus = number;
    }
  }
  return { status, grpcStatus };
}
