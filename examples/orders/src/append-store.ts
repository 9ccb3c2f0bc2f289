/**
 * Orders in an append-only file, one line of JSON each, on the disk (fdatasync) before they count: for runtimes without
 * SQLite. Duplicates are known within one process; two processes must not write one such file.
 */

import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import type { Store } from "./store.ts";

export function openAppendStore(file: string): Store {
  const fd = openSync(file, "a+");
  const text = readFileSync(file, "utf8");
  const ids = new Set(idsIn(text));
  // A SIGKILL can leave the last line without its end. A line of its own keeps the next order readable.
  if (text !== "" && !text.endsWith("\n")) writeSync(fd, "\n");
  return {
    kind: "append-only file",
    insert(id) {
      if (ids.has(id)) return "duplicate";
      writeSync(fd, `${JSON.stringify({ id, atMs: Date.now() })}\n`);
      fdatasyncSync(fd);
      ids.add(id);
      return "inserted";
    },
    close: () => closeSync(fd),
  };
}

export function readAppendIds(file: string): readonly string[] {
  return idsIn(readFileSync(file, "utf8"));
}

/** A torn line parses as nothing: a prefix of a JSON object never is one. */
function idsIn(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    try {
      const { id } = JSON.parse(line) as { readonly id?: unknown };
      return typeof id === "string" ? [id] : [];
    } catch {
      return [];
    }
  });
}
