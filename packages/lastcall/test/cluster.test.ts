import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ask, AUTO, fixture, start } from "./child.ts";
import { startClients } from "./clients.ts";
import { dial, untilRefused } from "./servers/rig.ts";

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const ENV = { LASTCALL_GRACE_PERIOD: "20s", LASTCALL_DRAIN_DELAY: "200ms" };

suite("G7 cluster workers drain within the primary's one budget", { concurrency: 1 }, () => {
  for (const policy of ["rr", "none"]) {
    test(`G7 a signal to the primary alone drains every worker, and none is replaced (${policy})`, async (t) => {
      const child = start(t, fixture("cluster-app"), {
        args: [policy],
        nodeArgs: ["--import", AUTO],
        env: ENV,
      });
      const port = await child.port();
      const held = ask(port, "/hold");
      await child.said("held");
      child.process.kill("SIGTERM");
      assert.deepEqual(await held, { status: 200, body: "held work is done\n" });
      assert.equal(await child.ended(), 0);
      const all = child.records();
      assert.equal(all.length, 3);
      assert.deepEqual(new Set(all.map(({ outcome }) => outcome)), new Set(["drained"]));
      const primary = all.find(({ pid }) => pid === child.process.pid);
      assert.equal(all.at(-1), primary, "the primary ends last");
      assert.match(JSON.stringify(primary?.teardown), /"workers","outcome":"done"/);
      assert.equal((await ask(port, "/")).status, "refused");
    });
  }

  test("A5 G7 a worker serves its old connections within the window once its listener has closed, and tells them", async (t) => {
    const child = start(t, fixture("cluster-app"), {
      nodeArgs: ["--import", AUTO],
      env: { ...ENV, LASTCALL_LINGER: "3s" },
    });
    const port = await child.port();
    const wires = await Promise.all([dial(port), dial(port), dial(port), dial(port)]);
    for (const wire of wires) {
      wire.send(GET);
      await wire.until(/hello/);
    }
    child.process.kill("SIGTERM");
    await untilRefused(port);
    for (const wire of wires) {
      wire.send(GET);
      assert.match(await wire.until(/hello[^]*hello/), /hello[^]* 200 OK[^]*\r\nConnection: close\r\n/);
    }
    assert.equal(await child.ended(), 0);
  });

  test("G7 a worker that does not end well makes the primary's stop incomplete, and is named", async (t) => {
    const child = start(t, fixture("cluster-app"), {
      nodeArgs: ["--import", AUTO],
      env: { ...ENV, LASTCALL_GRACEFUL_TIMEOUT: "700ms" },
    });
    const port = await child.port();
    void ask(port, "/stuck");
    await child.said("stuck");
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 3);
    const primary = child.records().find(({ pid }) => pid === child.process.pid);
    assert.match(
      primary?.teardown.find(({ name }) => name === "workers")?.error ?? "",
      /^cluster worker \d \(pid \d+\) ended with exit code 3$/,
    );
  });

  for (const policy of ["rr", "none"]) {
    test(`G7 workers are replaced one after the other under load without a lost connection (${policy})`, async (t) => {
      const child = start(t, fixture("cluster-app"), {
        args: [policy],
        nodeArgs: ["--import", AUTO],
        env: ENV,
      });
      const port = await child.port();
      const clients = startClients(port);
      child.process.kill("SIGUSR2");
      await child.said("replaced");
      assert.deepEqual([...(await clients.end()).keys()], [200]);
      child.process.kill("SIGTERM");
      assert.equal(await child.ended(), 0);
    });
  }
});
