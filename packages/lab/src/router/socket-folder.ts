/** Where a router's runtime socket lies: in its own folder, where the path of a unix socket has room for that. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** `sun_path` has 104 bytes on macOS, 108 on Linux, the end included. */
const LONGEST = 103;

export interface SocketPlace {
  readonly socket: string;
  /** Removes what was made for it elsewhere. */
  clean(): void;
}

export function socketPlace(folder: string): SocketPlace {
  const own = path.join(folder, "admin.sock");
  if (Buffer.byteLength(own) <= LONGEST) {
    return { socket: own, clean: () => rmSync(own, { force: true }) };
  }
  const elsewhere = mkdtempSync(path.join(tmpdir(), "lastcall-"));
  return {
    socket: path.join(elsewhere, "admin.sock"),
    clean: () => rmSync(elsewhere, { recursive: true, force: true }),
  };
}
