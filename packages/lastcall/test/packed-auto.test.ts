import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { after, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ask, AUTO, fixture, start } from "./child.ts";

const LINK = fileURLToPath(new URL("../../../../scripts/link.mjs", import.meta.url));
const ENV = { LASTCALL_GRACE_PERIOD: "10s", LASTCALL_DRAIN_DELAY: "300ms" };

suite("auto mode as it is packed, linked into one file", { concurrency: 2 }, () => {
  // Beside the modules, for the watchdog's thread is a file of its own.
  const linked = fileURLToPath(new URL(`../src/auto-linked-${process.pid}.js`, import.meta.url));
  const made = spawnSync(process.execPath, [LINK, fileURLToPath(AUTO), linked], { encoding: "utf8" });
  after(() => rmSync(linked, { force: true }));
  const nodeArgs = ["--import", linked];

  test("it is made, and answers what is in flight", async (t) => {
    assert.equal(made.stderr, "");
    const child = start(t, fixture("app"), { args: ["closeThenExit"], nodeArgs, env: ENV });
    const held = ask(await child.port(), "/hold");
    await child.said("held");
    child.process.kill("SIGTERM");
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
    assert.equal(child.record()?.outcome, "drained");
    assert.match(child.record()?.foreign[0] ?? "", /^SIGTERM: closeThenExit \(fixtures\/app\.js:\d+\), held/);
  });

  test("G9 beside the app's own copy of the library it is one lifecycle, whose watchdog names what blocks", async (t) => {
    const child = start(t, fixture("blocked"), {
      nodeArgs,
      env: { ...ENV, LASTCALL_GRACEFUL_TIMEOUT: "1s" },
    });
    const port = await child.port();
    void ask(port, "/hold");
    await child.said("held");
    child.process.kill("SIGTERM");
    await child.warned("SIGTERM: not ready");
    void ask(port, "/spin");
    assert.equal(await child.ended(), 3);
    assert.match(child.record()?.blockedIn ?? "", /^spinsForever/);
    assert.equal(child.record()?.requests.unfinished, 2);
    assert.equal(child.stderr().match(/"schema"/g)?.length, 1);
  });

  test("alone, its own watchdog does", async (t) => {
    const child = start(t, fixture("app"), { nodeArgs, env: { ...ENV, LASTCALL_GRACEFUL_TIMEOUT: "1s" } });
    const port = await child.port();
    void ask(port, "/hold");
    await child.said("held");
    child.process.kill("SIGTERM");
    await child.warned("SIGTERM: not ready");
    void ask(port, "/spin");
    assert.equal(await child.ended(), 3);
    assert.match(child.record()?.blockedIn ?? "", /^spinsForever/);
  });
});
