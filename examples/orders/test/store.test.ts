import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { type TestContext } from "node:test";
import { openAppendStore } from "../src/append-store.ts";
import { readOrders } from "../src/read-orders.ts";
import { builtinSqlite } from "../src/sqlite-store.ts";
import { openStore } from "../src/store.ts";

function newFile(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "orders-store-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, "orders.db");
}

test("a store keeps each id once and in order, also when it is opened again", (t) => {
  const file = newFile(t);
  assert.deepEqual(readOrders(file), []);
  for (const [id, outcome] of [
    ["b", "inserted"],
    ["a", "inserted"],
    ["b", "duplicate"],
  ] as const) {
    const store = openStore(file);
    assert.equal(store.insert(id), outcome);
    store.close();
  }
  assert.deepEqual(readOrders(file), ["b", "a"]);
});

test("the append-only file survives a torn last line", (t) => {
  const file = newFile(t);
  const first = openAppendStore(file);
  first.insert("whole");
  first.close();
  appendFileSync(file, '{"id":"torn","at');
  assert.deepEqual(readOrders(file), ["whole"]);
  const second = openStore(file);
  assert.equal(second.kind, "append-only file");
  assert.equal(second.insert("torn"), "inserted");
  assert.equal(second.insert("whole"), "duplicate");
  second.close();
  assert.deepEqual(readOrders(file), ["whole", "torn"]);
});

test("an SQLite file on a runtime without SQLite is an error that says what to do", (t) => {
  if (builtinSqlite() !== undefined) return t.skip("this runtime has it");
  const file = newFile(t);
  writeFileSync(file, "SQLite format 3\0 and more");
  assert.throws(() => openStore(file), /use Node 22\.13 or later, or another file/);
  assert.throws(() => readOrders(file), /use Node 22\.13 or later, or another file/);
});
