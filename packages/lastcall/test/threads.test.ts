import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ask, AUTO, fixture, start } from "./child.ts";

const ENV = { LASTCALL_GRACE_PERIOD: "20s", LASTCALL_DRAIN_DELAY: "200ms" };

suite("G7 worker threads drain within the process's one budget", { concurrency: 2 }, () => {
  for (const style of ["auto", "explicit"]) {
    test(`G7 the signal reaches every thread, and the process ends with the last of them (${style})`, async (t) => {
      const child = start(t, fixture("threads-app"), {
        args: [style],
        nodeArgs: style === "auto" ? ["--import", AUTO] : [],
        env: ENV,
      });
      const ports = [await child.port("thread1"), await child.port("thread2")];
      const held = Promise.all(ports.map((port) => ask(port, "/hold")));
      await child.said("held1");
      await child.said("held2");
      child.process.kill("SIGTERM");
      assert.deepEqual(
        (await held).map(({ body }) => body),
        ["held work is done\n", "held work is done\n"],
      );
      assert.equal(await child.ended(), 0);
      const all = child.records();
      assert.deepEqual(
        all.map(({ outcome }) => outcome),
        ["drained", "drained", "drained"],
      );
      assert.equal(all.at(-1)?.thread, undefined, "the main thread ends last");
      assert.ok(
        all.slice(0, 2).every(({ thread, requests }) => (thread ?? 0) > 0 && requests.completed === 1),
      );
      assert.match(JSON.stringify(all.at(-1)?.teardown), /"workers","outcome":"done"/);
    });
  }

  test("G7 a thread that does not end well makes the process's stop incomplete, and is named", async (t) => {
    const child = start(t, fixture("threads-app"), {
      nodeArgs: ["--import", AUTO],
      env: { ...ENV, LASTCALL_GRACEFUL_TIMEOUT: "700ms" },
    });
    void ask(await child.port("thread1"), "/stuck");
    await child.said("stuck");
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 3);
    const main = child.records().find(({ thread }) => thread === undefined);
    assert.match(
      main?.teardown.find(({ name }) => name === "workers")?.error ?? "",
      /^worker thread \d ended with exit code 3$/,
    );
  });

  test("threads that serve nothing are no part of it", async (t) => {
    const child = start(t, "", {
      nodeArgs: [
        "--import",
        AUTO,
        "-e",
        `const { Worker } = require("worker_threads");
         new Worker("setInterval(() => {}, 1000)", { eval: true }).on("online", () => {
           require("http").createServer().listen(0, "127.0.0.1", () => console.log("up"));
         });`,
      ],
      env: ENV,
    });
    await child.said("up");
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
    assert.deepEqual(
      child.records().map(({ teardown }) => teardown.map(({ name }) => name)),
      [["the app's own stop handlers"]],
    );
  });
});
