/** A router's log in pieces of whole lines: one of a long run is larger than a string may be. */

import { createReadStream } from "node:fs";
import type { RouterLine } from "../ledger/records.ts";

const PIECE_BYTES = 1024 * 1024;

/** The lines so far, some thousand at a time; what stands behind the last line end is still being written. */
export async function* logPieces(file: string): AsyncGenerator<string, void, undefined> {
  let rest = "";
  try {
    const chunks = createReadStream(file, { encoding: "utf8", highWaterMark: PIECE_BYTES });
    for await (const chunk of chunks as AsyncIterable<string>) {
      const text = rest + chunk;
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      if (end > 0) {
        yield text.slice(0, end);
      }
    }
  } catch {
    // Not there: nothing was logged. A witness that cannot be read is none.
  }
}

/** Whether somebody will ask for the line: about a request that went wrong, or because it says more than that all went well. */
export function isWorthKeeping(line: RouterLine, id: string, asked: (id: string) => boolean): boolean {
  return line.retries > 0 || line.class !== null || asked(id);
}
