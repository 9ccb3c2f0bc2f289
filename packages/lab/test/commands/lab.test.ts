// The experiments as their users run them: real services, the short ones; the long ones are `npm run experiments`.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { realNginx } from "../real-parts.ts";
import { allGone, childrenOf } from "../processes.ts";
import { startLastcall, type Running } from "./lastcall.ts";

const start = (...args: readonly string[]): Running => startLastcall(["lab", ...args]);

interface Document {
  readonly schema: string;
  readonly experiment: string;
  readonly shows: boolean | null;
  readonly line: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly checks: readonly {
    readonly claim: string;
    readonly holds: boolean | null;
    readonly seen: string;
  }[];
}

/** Shown, or left open by a machine that was too busy to measure times: then every check that is no time holds. */
function assertShown(done: {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}): Document {
  const document = JSON.parse(done.out) as Document;
  assert.equal(document.schema, "lastcall.lab/1");
  assert.deepEqual(
    document.checks.filter(({ holds, seen }) => holds !== true && !seen.includes("late itself")),
    [],
    done.err,
  );
  assert.ok(done.code === 0 || done.code === 4, `exit code ${done.code}: ${document.line}`);
  return document;
}

test("alone it lists the experiments, a line each", async () => {
  const { code, out } = await start().done;
  assert.equal(code, 0);
  assert.equal([...out.matchAll(/^ {2}[a-z0-9-]+ +\d+ s {2}\S/gm)].length, 9);
});

test("an unknown name is told the nearest, and a command its place", async () => {
  const wrong = await start("signals").done;
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /no experiment 'signals'[\s\S]*signal/);
  const command = await start("signal", "--", "node", "app.js").done;
  assert.equal(command.code, 2);
  assert.match(command.err, /lastcall check/);
});

test("signal shows that SIGTERM loses nothing and SIGKILL does; its transcript has both timelines", async () => {
  const done = await start("signal", "--json").done;
  assertShown(done);
  assert.match(
    done.err,
    /SIGTERM: please stop[\s\S]*gate[\s\S]*database closed[\s\S]*SIGKILL: it cannot be handled/,
  );
});

test("drain shows a drain that completes and one that expires, and keeps the files where it is told to", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "lastcall-lab-test-"));
  assertShown(await start("drain", "--json", "--keep", path.join(folder, "kept")).done);
  assert.ok(readdirSync(path.join(folder, "kept")).includes("completed-record"));
  rmSync(folder, { recursive: true });
});

test("proxy shows nginx's three exits, or says that there is no nginx", async () => {
  const nginx = await realNginx();
  const done = await start("proxy", "--json").done;
  if (nginx === null) {
    assert.equal(done.code, 4);
    assert.match(done.out, /nginx was not found/);
  } else {
    assertShown(done);
  }
});

test("Ctrl-C ends what was started, and what was learnt is told", async () => {
  const { child, err, done } = start("signal", "--json");
  let told = false;
  child.stderr?.on("data", () => {
    if (/A new connection/.test(err()) && !told) {
      told = true;
      child.kill("SIGINT");
    }
  });
  const pids: number[] = [];
  const watch = setInterval(() => pids.push(...childrenOf(child.pid ?? 0)), 100);
  const { code, out, err: said } = await done;
  clearInterval(watch);
  assert.equal(code, 130);
  assert.match(said, /Interrupted: nothing is judged\. Through: polite/);
  assert.ok("polite" in (JSON.parse(out) as Document).facts);
  await allGone(pids);
});
