/**
 * Files that are read back when the process is gone: each line is written whole, at once and in order, so that also a
 * SIGKILL leaves every line that was noted before it.
 */

import { openSync, writeSync } from "node:fs";

export interface LineFile {
  write(line: string): void;
}

/** Opens `file` for appending, until the process (or thread) ends; without a file the lines go nowhere. */
export function openLines(file: string | undefined): LineFile {
  if (file === undefined) return { write: () => {} };
  const fd = openSync(file, "a");
  return { write: (line) => void writeSync(fd, `${line}\n`) };
}

/** What happened, and more about it. */
export type Note = (event: string, detail?: Readonly<Record<string, unknown>>) => void;

/** One event is one line of NDJSON: `{"wallMs":1764452192000,"event":"signal","pid":7,...}`. */
export function openEvents(file: string | undefined): Note {
  const lines = openLines(file);
  return (event, detail = {}) =>
    lines.write(JSON.stringify({ wallMs: Date.now(), event, pid: process.pid, ...detail }));
}
