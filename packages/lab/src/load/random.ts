/** A tiny seeded source of chance with random access: the n-th number of a stream is a pure function, so any request can be recomputed. */

/** Separate streams, so that a change of the mix does not move the arrivals. */
export type Stream = "arrivals" | "mix";

const STREAM_SALT: Readonly<Record<Stream, number>> = { arrivals: 0x51ab, mix: 0xc0de };

/** Scrambles 32 bits: a change of one bit in changes about half of the bits out. */
function scramble(bits: number): number {
  let x = bits | 0;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

/** A number in [0, 1). */
export function uniform(seed: number, stream: Stream, n: number): number {
  // A seed may be larger than 32 bits: both halves count.
  const high = Math.floor(seed / 2 ** 32);
  const start = scramble(scramble(seed ^ STREAM_SALT[stream]) ^ scramble(high + 1));
  return scramble(start + scramble(n + 0x9e3779b9)) / 2 ** 32;
}
