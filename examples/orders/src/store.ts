/** Where orders are kept: one small interface, and which of its two kinds a file and a runtime get. */

import { closeSync, openSync, readSync } from "node:fs";
import { openAppendStore } from "./append-store.ts";
import { builtinSqlite, openSqliteStore } from "./sqlite-store.ts";

export interface Store {
  /** For the start line. */
  readonly kind: "node:sqlite" | "append-only file";
  /** When it returns "inserted" the order is on the disk. An id that is there already is not inserted again. */
  insert(id: string): "inserted" | "duplicate";
  close(): void;
}

/** An existing file keeps its kind; a new one is SQLite where the runtime has it. */
export function openStore(file: string): Store {
  const kind = storeKindOf(file);
  const sqlite = kind === "append" ? undefined : builtinSqlite();
  if (kind === "sqlite" && sqlite === undefined) throw new Error(needsSqlite(file));
  return sqlite === undefined ? openAppendStore(file) : openSqliteStore(sqlite, file);
}

export function needsSqlite(file: string): string {
  return `${file} is an SQLite file and Node ${process.versions.node} has no node:sqlite: use Node 22.13 or later, or another file.`;
}

/** Judged by the first bytes; "none" for a file that is missing or empty. */
export function storeKindOf(file: string): "sqlite" | "append" | "none" {
  const magic = "SQLite format 3\0";
  const head = Buffer.alloc(magic.length);
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "none";
    throw error;
  }
  try {
    if (readSync(fd, head) === 0) return "none";
    return head.toString("latin1") === magic ? "sqlite" : "append";
  } finally {
    closeSync(fd);
  }
}
