import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { mock, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { nodeHost } from "../src/node-host.ts";

const MODULE = new URL("../src/node-host.js", import.meta.url).href;

test("C7 phases are measured on a clock that nobody sets", () => {
  const host = nodeHost();
  const before = host.now();
  mock.timers.enable({ apis: ["Date"], now: Date.now() + 3_600_000 });
  try {
    assert.ok(host.now() - before < 60_000);
  } finally {
    mock.timers.reset();
  }
});

test("E6 the record is whole although its pipe was full and is read late", async () => {
  // stderr is touched, which makes the pipe non-blocking, and filled; then the record is written.
  const script = `
    const { nodeHost } = await import(${JSON.stringify(MODULE)});
    process.stderr.write("x".repeat(300_000));
    process.stdout.write("full");
    nodeHost().writeRecord('{"record":true}', undefined);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  // The writer must meet a full pipe: give it time to.
  await pause(200);
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += String(chunk);
  });
  await Promise.all([exited, once(child.stderr, "end")]);
  assert.match(said, /\{"record":true\}\n/);
});

test("E6 the record is appended to its file, and a file that cannot be written costs nothing but a line", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "lastcall-record-"));
  const file = path.join(folder, "records");
  const script = `
    const { nodeHost } = await import(${JSON.stringify(MODULE)});
    nodeHost().writeRecord("first", ${JSON.stringify(file)});
    nodeHost().writeRecord("second", ${JSON.stringify(file)});
    nodeHost().writeRecord("third", ${JSON.stringify(folder)});
  `;
  try {
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said += String(chunk);
    });
    await Promise.all([once(child, "exit"), once(child.stderr, "end")]);
    assert.equal(readFileSync(file, "utf8"), "first\nsecond\n");
    assert.match(said, /first\nsecond\nlastcall: the record could not be appended.*\nthird\n/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
