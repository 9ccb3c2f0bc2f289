/** Orders in an SQLite table, through the module that Node brings itself from 22.13 on. */

import type { Store } from "./store.ts";

/** The few calls of node:sqlite that are used here; the type package of Node 20 does not know them. */
export interface Sqlite {
  readonly DatabaseSync: new (file: string, options?: { readonly readOnly?: boolean }) => SqliteDatabase;
}
interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}
interface SqliteStatement {
  run(...values: readonly (string | number)[]): { readonly changes: number | bigint };
  all(): readonly Readonly<Record<string, unknown>>[];
}

export function builtinSqlite(): Sqlite | undefined {
  return process.getBuiltinModule("node:sqlite") as Sqlite | undefined;
}

export function openSqliteStore(sqlite: Sqlite, file: string): Store {
  const database = new sqlite.DatabaseSync(file);
  // Two copies may share one file for a moment during a restart: wait for the other's commit instead of failing.
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, at_ms INTEGER NOT NULL)");
  const insert = database.prepare("INSERT OR IGNORE INTO orders (id, at_ms) VALUES (?, ?)");
  return {
    kind: "node:sqlite",
    insert: (id) => (Number(insert.run(id, Date.now()).changes) === 1 ? "inserted" : "duplicate"),
    close: () => database.close(),
  };
}

export function readSqliteIds(sqlite: Sqlite, file: string): readonly string[] {
  const database = new sqlite.DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare("SELECT id FROM orders ORDER BY rowid")
      .all()
      .map((row) => String(row["id"]));
  } finally {
    database.close();
  }
}
