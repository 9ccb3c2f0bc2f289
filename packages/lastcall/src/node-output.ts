/** Writing to the outside for the last time: whole where somebody reads, bounded where nobody does. */

import { appendFileSync, writeSync } from "node:fs";

/** How long the record may wait for a reader of standard error that does not read. */
const RECORD_PATIENCE_MS = 1000;

/**
 * Writes all of `text` to a file descriptor that may be non-blocking: `process.stderr` makes fd 2 so once it has been
 * touched on a pipe, and a bare writeSync then throws EAGAIN in the middle of the text.
 */
export function writeAll(fd: number, text: string, patienceMs: number): void {
  let rest = Buffer.from(text);
  const giveUpAt = performance.now() + patienceMs;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || performance.now() >= giveUpAt) {
        // EPIPE, EBADF or a reader that does not read: there is nobody left to tell.
        return;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}

/**
 * The record: one line on standard error, and in `file` where one is given. `afterCut`: output before it may have ended in
 * the middle of a line, which is ended first.
 */
export function writeRecord(line: string, file: string | undefined, afterCut: boolean): void {
  if (file !== undefined) {
    try {
      appendFileSync(file, `${line}\n`);
    } catch (error) {
      writeAll(2, `lastcall: the record could not be appended to ${file}: ${String(error)}\n`, 0);
    }
  }
  writeAll(2, `${afterCut ? "\n" : ""}${line}\n`, RECORD_PATIENCE_MS);
}

/** How many pipes are open beside the channel to a parent. */
export function openPipes(types: readonly string[]): number {
  const channels = process.channel === undefined ? 0 : 1;
  return types.filter((type) => type === "PipeWrap").length - channels;
}

/** Waits until what others have queued for the standard streams is out, at most `ms`. */
export async function flushOutput(ms: number): Promise<void> {
  const open = process.getActiveResourcesInfo();
  if (openPipes(open) === 0 && !open.includes("TTYWrap")) {
    // Nobody has touched the streams, or they are files, which are written at once. Touching them would make them,
    // which costs 2 to 5 ms of an exit.
    return;
  }
  const giveUpAt = performance.now() + ms;
  const queued = (): boolean => process.stdout.writableLength + process.stderr.writableLength > 0;
  while (queued() && performance.now() < giveUpAt) {
    await new Promise((resolve) => {
      setTimeout(resolve, 2);
    });
  }
}
