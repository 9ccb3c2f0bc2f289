/** A body of bytes as it goes over the wire: made once for all requests of a template, in pieces, with its digest. */

import { createHash } from "node:crypto";
import type { Upload } from "./load.ts";

export interface PreparedUpload {
  /** The body itself. */
  readonly body: Buffer;
  /** `content-digest` of RFC 9530. */
  readonly digest: string;
  /** With the chunked encoding around them, where there is one; the last one ends the body. */
  readonly pieces: readonly Buffer[];
  readonly everyMs: number;
  readonly chunked: boolean;
}

/** Printable, so that a service that logs it does no harm; no two lines of it are alike, so that a swap is seen. */
function filler(bytes: number): Buffer {
  const lines: string[] = [];
  for (let line = 0, length = 0; length < bytes; line += 1) {
    const text = `${String(line).padStart(15, "0")}\n`;
    lines.push(text);
    length += text.length;
  }
  return Buffer.from(lines.join(""), "latin1").subarray(0, bytes);
}

export function digestOf(body: Buffer): string {
  return `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
}

export function prepareUpload({ bytes, framing, pieceBytes, everyMs }: Upload): PreparedUpload {
  const body = filler(bytes);
  const chunked = framing === "chunked";
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += pieceBytes) {
    const piece = body.subarray(at, at + pieceBytes);
    pieces.push(
      chunked
        ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")])
        : piece,
    );
  }
  if (chunked) {
    pieces.push(Buffer.from("0\r\n\r\n"));
  }
  return { body, digest: digestOf(body), pieces, everyMs, chunked };
}
