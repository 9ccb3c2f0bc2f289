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

/** Writes a record into a full pipe that is read 200 ms later; tells what came, and how long the writer took. */
async function recordIntoFullPipe(): Promise<{ readonly said: string; readonly tookMs: number }> {
  // stderr is touched, which makes the pipe non-blocking, and filled; then the record is written.
  const script = `
    const { nodeHost } = await import(${JSON.stringify(MODULE)});
    process.stderr.write("x".repeat(300_000));
    process.stdout.write("full ");
    const beganAt = performance.now();
    nodeHost().writeRecord('{"record":true}', undefined);
    process.stdout.write(String(performance.now() - beganAt));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += String(chunk);
  });
  await once(child.stdout, "data");
  // The writer must meet a full pipe: give it time to.
  await pause(200);
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += String(chunk);
  });
  await Promise.all([exited, once(child.stderr, "end"), once(child.stdout, "end")]);
  return { said, tookMs: Number(out.split(" ")[1]) };
}

test("E6 the record is whole although its pipe was full and is read late", async () => {
  for (let tries = 0; tries < 10; tries += 1) {
    // One after the other: on a busy machine the writer may come so late that the pipe is read already.
    const { said, tookMs } = await recordIntoFullPipe();
    assert.match(said, /\{"record":true\}\n/);
    if (tookMs > 20) {
      return;
    }
  }
  assert.fail("in 10 tries the writer never met a full pipe");
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
