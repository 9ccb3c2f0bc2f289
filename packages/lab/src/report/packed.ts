/**
 * The columns as text for a page: time differences as varints, the other columns byte plane by byte plane, deflated, in
 * base64. A million requests take three to four megabytes; the page's script (browser/unpack.ts) reads them back.
 */

import { deflateRawSync } from "node:zlib";
import type { Columns } from "./columns.ts";

/** Seven bits a byte, the lowest first; the high bit says that another follows. */
function varints(at: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(at.length * 5);
  let length = 0;
  let before = 0;
  for (const value of at) {
    let rest = value - before;
    before = value;
    while (rest > 127) {
      bytes[length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    bytes[length++] = rest;
  }
  return bytes.subarray(0, length);
}

export function packColumns({ at, level, kind, place, count }: Columns): string {
  const times = varints(at);
  const bytes = new Uint8Array(times.length + count * 4);
  bytes.set(times);
  let offset = times.length;
  for (const value of level) {
    bytes[offset++] = value & 255;
  }
  for (const value of level) {
    bytes[offset++] = value >>> 8;
  }
  bytes.set(kind, offset);
  bytes.set(place, offset + count);
  return deflateRawSync(bytes, { level: 6 }).toString("base64");
}
