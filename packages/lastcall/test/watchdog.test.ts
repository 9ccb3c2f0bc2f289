import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, test, type TestContext } from "node:test";
import { createLifecycle } from "../src/create.ts";
import { FakeHost } from "../src/testing.ts";
import { describeStack } from "../src/call-stack.ts";
import { PulseMemory } from "../src/watchdog-memory.ts";
import { ask, fixture, start, type Child } from "./child.ts";

const ENV = {
  LASTCALL_GRACE_PERIOD: "10s",
  LASTCALL_DRAIN_DELAY: "500ms",
  LASTCALL_GRACEFUL_TIMEOUT: "700ms",
  LASTCALL_TEARDOWN_TIMEOUT: "2s",
};
/** The heap is full long before the deadline. */
const LONG = { ...ENV, LASTCALL_GRACE_PERIOD: "60s", LASTCALL_GRACEFUL_TIMEOUT: "50s" };
/** It takes most of a second to fill: the watchdog needs a tenth of one to be there. */
const SMALL_HEAP = ["--max-old-space-size=128"];
/** Drain delay and graceful timeout, C4's half second, and what a busy machine needs. */
const PROMPT_MS = 1200 + 500 + 4000;

const NEW_PID_NAMESPACE = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"];
const namespaces =
  spawnSync("unshare", [...NEW_PID_NAMESPACE.slice(1), "true"], { stdio: "ignore" }).status === 0;
const skipNamespaces =
  namespaces || process.env["CI"] !== undefined ? false : "unshare --pid is not permitted here";

/** One request held, SIGTERM, then one that blocks the loop. Returns the time from the signal to the end. */
async function stopBlocked(child: Child, url: string, pid: number | undefined): Promise<number> {
  const port = await child.port();
  void ask(port, "/hold");
  await child.said("held");
  const began = performance.now();
  process.kill(pid ?? 0, "SIGTERM");
  await child.warned("SIGTERM: not ready");
  void ask(port, url);
  await child.ended();
  return performance.now() - began;
}

/** The program as PID 1 of a namespace of its own; its pid out here. */
async function startAsInit(
  t: TestContext,
  nodeArgs: readonly string[] = [],
  env: Readonly<Record<string, string>> = ENV,
): Promise<{ readonly child: Child; readonly pid: number }> {
  const command = [...NEW_PID_NAMESPACE, process.execPath];
  const child = start(t, fixture("blocked"), { env, command, nodeArgs });
  await child.port();
  const found = spawnSync("ps", ["-o", "pid=", "--ppid", String(child.process.pid)], { encoding: "utf8" });
  return { child, pid: Number(found.stdout.trim()) };
}

suite("C4 a blocked event loop cannot hold the process", { concurrency: 2 }, () => {
  test("C4 blocked in JavaScript: exit code 3 at the deadline, the record names the function", async (t) => {
    const child = start(t, fixture("blocked"), { env: ENV });
    const tookMs = await stopBlocked(child, "/spin", child.process.pid);
    assert.equal(await child.ended(), 3);
    assert.ok(tookMs < PROMPT_MS, `it took ${tookMs} ms`);
    const record = child.record();
    assert.equal(record?.endedBy, "watchdog");
    assert.equal(record?.outcome, "incomplete");
    assert.equal(record?.exitCode, 3);
    assert.match(
      record?.blockedIn ?? "",
      /^spinsForever \(blocked\.js:\d+\) < handleSpin \(blocked\.js:\d+\)/,
    );
    assert.deepEqual(record?.teardown, [{ name: "database", outcome: "skipped", ms: 0 }]);
    assert.deepEqual(
      record?.unfinishedTasks.map(({ name, fate }) => `${name}: ${fate}`),
      ["receipt 42: abandoned"],
    );
    assert.equal(child.stderr().match(/"schema"/g)?.length, 1);
  });

  test("C4 the counts of the watchdog's record include the request that blocks", async (t) => {
    const child = start(t, fixture("blocked"), { env: ENV });
    await stopBlocked(child, "/spin", child.process.pid);
    const record = child.record();
    assert.equal(record?.requests.accepted, 2);
    assert.equal(record?.requests.unfinished, 2);
    assert.deepEqual(record?.unfinished.map(({ route }) => route).toSorted(), ["GET /hold", "GET /spin"]);
  });

  test("C4 blocked in a teardown hook: ended at the teardown timeout", async (t) => {
    const child = start(t, fixture("blocked"), { env: ENV, args: ["teardown-spins"] });
    await child.port();
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 3);
    const record = child.record();
    assert.equal(record?.endedBy, "watchdog");
    assert.match(record?.blockedIn ?? "", /spinsForever/);
  });

  test("C4 E6 blocked in native code: killed, and the record is written, also to the file", async (t) => {
    const recordFile = path.join(tmpdir(), `lastcall-watchdog-${process.pid}.record`);
    t.after(() => rmSync(recordFile, { force: true }));
    const child = start(t, fixture("blocked"), { env: { ...ENV, LASTCALL_RECORD_FILE: recordFile } });
    await stopBlocked(child, "/native", child.process.pid);
    assert.equal(await child.ended(), "SIGKILL");
    const record = child.record();
    assert.equal(record?.blockedIn, "native");
    assert.equal(record?.exitCode, 137);
    assert.deepEqual(record?.teardown, [{ name: "database", outcome: "skipped", ms: 0 }]);
    assert.deepEqual(JSON.parse(readFileSync(recordFile, "utf8")), record);
  });

  test("C4 G1 as PID 1, blocked in JavaScript: the same exit code 3", { skip: skipNamespaces }, async (t) => {
    const { child, pid } = await startAsInit(t);
    await stopBlocked(child, "/spin", pid);
    assert.equal(await child.ended(), 3);
    assert.equal(child.record()?.pid, 1);
    assert.match(child.record()?.blockedIn ?? "", /spinsForever/);
  });

  test(
    "C4 G1 as PID 1, blocked in native code: it ends, although no signal can end it",
    { skip: skipNamespaces },
    async (t) => {
      const { child, pid } = await startAsInit(t);
      const tookMs = await stopBlocked(child, "/native", pid);
      assert.ok(tookMs < 15_000, `it took ${tookMs} ms, as long as the block`);
      assert.equal(child.record()?.blockedIn, "native");
      assert.equal(child.record()?.exitCode, 139);
    },
  );

  const exhausted = {
    "/heap": /^heap exhausted in .*eatsMemory \(blocked\.js:\d+\)/,
    "/heap-in-turns": /^heap exhausted in /,
  };
  for (const [url, where] of Object.entries(exhausted)) {
    test(`C4 heap exhausted after the signal (${url}): exit code 3, and the record says where`, async (t) => {
      const child = start(t, fixture("blocked"), { env: LONG, nodeArgs: SMALL_HEAP });
      await stopBlocked(child, url, child.process.pid);
      assert.equal(await child.ended(), 3);
      const record = child.record();
      assert.equal(record?.endedBy, "watchdog");
      assert.match(record?.blockedIn ?? "", where);
      assert.deepEqual(record?.teardown, [{ name: "database", outcome: "skipped", ms: 0 }]);
      assert.equal(child.stderr().match(/"schema"/g)?.length, 1);
    });
  }

  test("C4 G1 as PID 1, heap exhausted: the same exit code 3", { skip: skipNamespaces }, async (t) => {
    const { child, pid } = await startAsInit(t, SMALL_HEAP, LONG);
    await stopBlocked(child, "/heap", pid);
    assert.equal(await child.ended(), 3);
    assert.match(child.record()?.blockedIn ?? "", /^heap exhausted in .*eatsMemory/);
  });

  test("a heap that is full for a while and a loop that is blocked for a while change nothing", async (t) => {
    const child = start(t, fixture("blocked"), {
      env: { ...ENV, LASTCALL_DRAIN_DELAY: "2s" },
      nodeArgs: ["--max-old-space-size=64"],
    });
    const port = await child.port();
    child.process.kill("SIGTERM");
    await child.warned("SIGTERM: not ready");
    assert.equal((await ask(port, "/busy")).status, 200);
    assert.equal((await ask(port, "/busy")).status, 200);
    assert.equal(await child.ended(), 3);
    assert.equal(child.record()?.endedBy, "lastcall");
    assert.doesNotMatch(child.stderr(), /debugger/);
  });

  test("C4 a loop that is only busy is left alone", async (t) => {
    const child = start(t, fixture("blocked"), { env: ENV });
    const port = await child.port();
    child.process.kill("SIGTERM");
    await child.warned("SIGTERM: not ready");
    assert.equal((await ask(port, "/")).status, 200);
    // The tracked task never ends: the deadline passes, on a thread that is alive.
    assert.equal(await child.ended(), 3);
    assert.equal(child.record()?.endedBy, "lastcall");
  });
});

test("where Node may start no thread a stop is as good as ever, and only a blocked loop is not ended", async (t) => {
  // Which of them there are depends on the version: 20 has another name for the first, and none before 26 the last.
  const flags = ["--permission", "--experimental-permission", "--allow-net"].filter((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  );
  const child = start(t, fixture("explicit-app"), { nodeArgs: [...flags, "--allow-fs-read=*"] });
  await child.port();
  child.process.kill("SIGTERM");
  assert.equal(await child.ended(), 0);
  assert.match(child.stdout(), /database closed/);
  assert.deepEqual([child.record()?.outcome, child.record()?.errors], ["drained", []]);
  assert.match(child.stderr(), /^lastcall: warning: no watchdog, so a blocked event loop is not ended/m);
});

test("nothing of the watchdog runs before the first signal, and a stop with nothing to block starts none", async () => {
  const host = new FakeHost();
  const life = createLifecycle({ drainDelayMs: 0 }, host);
  life.ready();
  await host.advance(60_000);
  host.signal("SIGTERM");
  await life.shutdown();
  assert.deepEqual(host.beats, []);
});

test("C4 whoever comes by the accept queue starts the watchdog of a stop that had nothing to block", async () => {
  const host = new FakeHost();
  const life = createLifecycle({ drainDelayMs: 0, gracefulTimeoutMs: 4000 }, host);
  const server = createServer();
  life.http(server).ready();
  host.signal("SIGTERM");
  assert.equal(life.state, "draining");
  assert.deepEqual(host.beats, []);
  server.emit("connection", new Socket());
  server.emit("connection", new Socket());
  assert.deepEqual(
    host.beats.map(({ limitMs }) => limitMs),
    [4000],
  );
  await host.advance(4000);
  assert.equal((await life.shutdown()).outcome, "drained");
});

test("the watchdog is told the record and the limit of each phase, ten times a second", async () => {
  const host = new FakeHost();
  const life = createLifecycle(
    { drainDelayMs: 1000, gracefulTimeoutMs: 4000, teardownTimeoutMs: 1000 },
    host,
  );
  life.onTeardown("database", () => {});
  life.ready();
  host.signal("SIGTERM");
  await host.advance(500);
  assert.equal(host.beats[0]?.limitMs, 5000);
  assert.equal(host.beats.at(-1)?.limitMs, 4500);
  assert.ok(host.beats.length >= 6);
  await host.advance(500);
  await life.shutdown();
  const told = JSON.parse(host.beats.at(-1)?.record ?? "{}") as { readonly endedBy: string };
  assert.equal(told.endedBy, "watchdog");
});

test("what one thread writes the other reads whole", async () => {
  const here = new PulseMemory();
  const there = new PulseMemory(here.buffer);
  assert.equal(there.read(), null);
  here.write(5n, "the first record ä", 0.1);
  here.write(7n, "the second", 0.75);
  assert.deepEqual(there.read(), { beats: 2, limitAt: 7n, heapShare: 0.75, record: "the second" });
  here.limit(9n);
  assert.deepEqual(there.read(), { beats: 2, limitAt: 9n, heapShare: 0.75, record: "the second" });
  let over = false;
  const stopped = there.stopped().then(() => (over = true));
  await new Promise(setImmediate);
  assert.equal(over, false);
  here.stop();
  await stopped;
  await there.stopped();
});

test("a stack is named by its innermost functions outside of Node", () => {
  const frame = (functionName: string, url: string): Parameters<typeof describeStack>[0][number] => {
    return { functionName, url, location: { lineNumber: 4 } };
  };
  assert.equal(
    describeStack([frame("wait", "node:internal/x"), frame("", "file:///app/a.js"), frame("run", "b.js")]),
    "a function (a.js:5) < run (b.js:5)",
  );
  assert.equal(describeStack([frame("wait", "node:timers")]), "wait (node:timers:5)");
});
