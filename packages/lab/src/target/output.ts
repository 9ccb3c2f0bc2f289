/** What a copy prints: all of it in a file of the run folder, the last lines in memory for error messages. */

import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";

const KEPT_BYTES = 8 * 1024;

export interface Output {
  /** The last lines, at most so many. */
  tail(lines: number): readonly string[];
  close(): Promise<void>;
}

export function captureOutput(streams: readonly Readable[], file: string): Output {
  let kept = "";
  const sink = createWriteStream(file, { flags: "a" });
  // A full disk must not end the run: the ledger's own writer says so.
  sink.on("error", () => undefined);
  for (const stream of streams) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      kept = (kept + text).slice(-KEPT_BYTES);
      sink.write(text);
    });
  }
  return {
    tail: (lines) =>
      kept
        .split("\n")
        .map((line) => line.trimEnd())
        .filter((line) => line !== "")
        .slice(-lines),
    close: () =>
      new Promise((resolve) => {
        sink.once("close", resolve);
        sink.end();
        if (sink.closed) {
          resolve();
        }
      }),
  };
}
