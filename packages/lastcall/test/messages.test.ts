import assert from "node:assert/strict";
import { once } from "node:events";
import { suite, test } from "node:test";
import { createLifecycle } from "../src/create.ts";
import { FakeHost } from "../src/testing.ts";
import { ask, AUTO, fixture, start } from "./child.ts";

const PM2 = { pm_id: "0", kill_timeout: "5000", LASTCALL_DRAIN_DELAY: "200ms" };

suite("pm2's messages", { concurrency: 2 }, () => {
  test("under pm2 `ready` is sent when it is ready, and the message `shutdown` drains as a signal does", async (t) => {
    const child = start(t, fixture("app"), { nodeArgs: ["--import", AUTO], env: PM2, channel: true });
    const ready = once(child.process, "message");
    const port = await child.port();
    assert.deepEqual((await ready)[0], "ready");
    const held = ask(port, "/hold");
    await child.said("held");
    child.process.send("shutdown");
    await child.warned("not ready");
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
    const record = child.record();
    assert.equal(record?.reason, "shutdown");
    assert.equal(record?.why, "shutdown message");
    assert.equal(record?.budget.gracePeriodMs, 5000, "pm2 tells its kill_timeout");
  });

  test("G8 the app's own handler of the message waits for the gate; other messages are the app's", async (t) => {
    const child = start(t, fixture("app"), {
      args: ["onMessage"],
      nodeArgs: ["--import", AUTO],
      env: PM2,
      channel: true,
    });
    const held = ask(await child.port(), "/hold");
    await child.said("held");
    child.process.send("hello");
    await child.said("message hello");
    child.process.send("shutdown");
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
    assert.match(child.stdout(), /message shutdown/);
    assert.match(
      child.record()?.foreign[0] ?? "",
      /^shutdown message: a handler \(fixtures\/app\.js:\d+\), held/,
    );
  });

  test("listening for the message keeps no program alive", async (t) => {
    const child = start(t, "", {
      nodeArgs: [
        "--import",
        AUTO,
        "-e",
        "require('http').createServer().listen(0, function () { this.close(); })",
      ],
      env: PM2,
      channel: true,
    });
    assert.equal(await child.ended(), 0);
    assert.equal(child.record(), null);
  });

  test("elsewhere no message is listened for or sent", async () => {
    const host = new FakeHost();
    const life = createLifecycle({}, host);
    life.ready();
    host.shutdownMessage();
    assert.equal(life.state, "serving");
    assert.deepEqual(host.toldParent, []);
  });

  test("on Windows, which has no SIGTERM, the message stops as well (on the seam; not run on Windows)", async () => {
    const host = new FakeHost({ facts: { windows: true } });
    const life = createLifecycle({}, host);
    life.ready();
    host.shutdownMessage();
    const record = await life.shutdown();
    assert.equal(record.why, "shutdown message");
    assert.equal(host.exitCode, 0);
  });

  for (const signal of ["SIGBREAK", "SIGINT"] as const) {
    test(`on Windows ${signal} stops as well (on the seam; not run on Windows)`, async () => {
      const host = new FakeHost({ facts: { windows: true } });
      const life = createLifecycle({}, host);
      life.ready();
      host.signal(signal);
      assert.equal((await life.shutdown()).signal, signal);
    });
  }
});
