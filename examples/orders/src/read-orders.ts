/** What was really stored, read from outside while the service runs or after it is gone. */

import { readAppendIds } from "./append-store.ts";
import { builtinSqlite, readSqliteIds } from "./sqlite-store.ts";
import { needsSqlite, storeKindOf } from "./store.ts";

/** The ids of all orders in `file`, in the order of their insertion; a missing file holds none. */
export function readOrders(file: string): readonly string[] {
  const kind = storeKindOf(file);
  if (kind === "none") return [];
  if (kind === "append") return readAppendIds(file);
  const sqlite = builtinSqlite();
  if (sqlite === undefined) throw new Error(needsSqlite(file));
  return readSqliteIds(sqlite, file);
}
