import assert from "node:assert/strict";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { LabError } from "../../src/errors.ts";
import type { EventRecord } from "../../src/ledger/records.ts";
import {
  addToLedger,
  createLedger,
  LEDGER_FILE,
  ledgerOn,
  type LedgerSink,
} from "../../src/ledger/writer.ts";

const folder = await mkdtemp(path.join(os.tmpdir(), "lastcall-ledger-"));
after(() => rm(folder, { recursive: true }));

function note(text: string): EventRecord {
  return { kind: "event", atMs: 1, source: "lab", copy: null, event: "note", detail: { text } };
}

function isWriteError(error: unknown): boolean {
  return error instanceof LabError && error.code === "LAB_LEDGER_WRITE" && error.next !== "";
}

test("records are lines, in their order, in a folder that is made", async () => {
  const ledger = await createLedger(path.join(folder, "a", "run"));
  ledger.write(note("one"));
  ledger.writeAll([note("two"), note("line\nbreak")]);
  await ledger.close();
  const lines = (await readFile(ledger.file, "utf8")).split("\n");
  assert.deepEqual(
    lines.slice(0, -1).map((line) => (JSON.parse(line) as EventRecord).detail["text"]),
    ["one", "two", "line\nbreak"],
  );
  assert.equal(lines.at(-1), "");
});

test("much more than the buffer is written whole and in order", async () => {
  const ledger = await createLedger(path.join(folder, "large"));
  const text = "x".repeat(1000);
  for (let n = 0; n < 3000; n += 1) {
    ledger.write({ ...note(text), atMs: n });
  }
  await ledger.close();
  const lines = (await readFile(ledger.file, "utf8")).trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as EventRecord).atMs),
    Array.from({ length: 3000 }, (_, n) => n),
  );
});

test("what was written is on the disk soon, before the end", async () => {
  const appended: Uint8Array[] = [];
  let arrived: () => void = () => {};
  const arrival = new Promise<void>((resolve) => (arrived = resolve));
  const sink: LedgerSink = {
    appendFile: (lines) => {
      appended.push(lines);
      arrived();
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  const ledger = ledgerOn(sink, "x");
  ledger.write(note("soon"));
  await arrival;
  assert.equal(appended.length, 1);
  await ledger.close();
});

test("a ledger that exists is never touched", async () => {
  const run = path.join(folder, "twice");
  const first = await createLedger(run);
  first.write(note("first"));
  await first.close();
  await assert.rejects(createLedger(run), isWriteError);
  assert.match(await readFile(path.join(run, LEDGER_FILE), "utf8"), /first/);
});

test("a path that cannot be made is an error with the path", async () => {
  const file = path.join(folder, "a-file");
  await writeFile(file, "");
  await assert.rejects(createLedger(path.join(file, "run")), (error) => {
    assert.ok(isWriteError(error));
    assert.match((error as Error).message, /a-file/);
    return true;
  });
});

test(
  "a full disk is an error at the next write and at the end",
  { skip: !existsSync("/dev/full") },
  async () => {
    const ledger = ledgerOn(await open("/dev/full", "a"), "/dev/full");
    ledger.write(note("x".repeat(1_000_000)));
    await assert.rejects(
      ledger.close(),
      (error) => isWriteError(error) && /ENOSPC/.test((error as Error).message),
    );
    assert.throws(() => ledger.write(note("more")), isWriteError);
  },
);

test("close twice is one close, and a record after it is refused", async () => {
  const ledger = await createLedger(path.join(folder, "closed"));
  await Promise.all([ledger.close(), ledger.close()]);
  assert.throws(() => ledger.write(note("late")), isWriteError);
});

test("what a rerun says is added to the ledger of a run that has ended, and makes none where there is none", async () => {
  const run = path.join(folder, "ended");
  const control = {
    kind: "control",
    name: "hard-kill",
    words: "SIGKILL",
    outcome: "fail",
    bad: 3,
    sent: 9,
    folder: "x",
  } as const;
  const ledger = await createLedger(run);
  ledger.write(note("before"));
  await ledger.close();
  await addToLedger(run, control);
  const lines = (await readFile(path.join(run, LEDGER_FILE), "utf8")).split("\n");
  assert.match(lines[0] ?? "", /before/);
  assert.deepEqual(JSON.parse(lines[1] ?? ""), control);
  await assert.rejects(addToLedger(path.join(folder, "no-run"), control), isWriteError);
  assert.ok(!existsSync(path.join(folder, "no-run")));
});
