/** A small PNG of at most 256 colours: the densest picture a page can carry without a script. */

import { crc32, deflateSync } from "node:zlib";

export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

function chunk(type: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(content.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/** `pixels`: one palette index each, row by row. */
export function png(width: number, height: number, pixels: Uint8Array, palette: readonly Colour[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const lines = new Uint8Array((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    lines.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  }
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk("IHDR", header),
    chunk("PLTE", Uint8Array.from(palette.flatMap(([red, green, blue]) => [red, green, blue]))),
    chunk("tRNS", Uint8Array.from(palette.map(([, , , alpha]) => alpha))),
    chunk("IDAT", deflateSync(lines, { level: 9 })),
    chunk("IEND", new Uint8Array(0)),
  ]);
}

export function pngUrl(...args: Parameters<typeof png>): string {
  return `data:image/png;base64,${png(...args).toString("base64")}`;
}
