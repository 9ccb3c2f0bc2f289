import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { parseOptions, UsageError } from "../src/options.ts";
import { serverFile } from "./service.ts";

test("the documented defaults apply where nobody says otherwise", () => {
  const { lifecycle, port, host, build } = parseOptions([], {});
  assert.deepEqual({ port, host, build }, { port: 9001, host: "127.0.0.1", build: "bare" });
  assert.deepEqual(lifecycle, {
    gracePeriodMs: 30_000,
    drainDelayMs: 0,
    gracefulTimeoutMs: 10_000,
    taskTimeoutMs: 5000,
    boundary: "handler",
  });
});

test("what is said on the command line is passed on, and PORT gives way to --port", () => {
  const args = "--port 7 --drain-delay 250ms --graceful-timeout 2s --teardown-timeout 1s --admission respond";
  const { lifecycle, port } = parseOptions([...args.split(" "), "--boundary", "response"], { PORT: "8" });
  assert.equal(port, 7);
  assert.deepEqual(lifecycle, {
    gracePeriodMs: 30_000,
    drainDelayMs: 250,
    gracefulTimeoutMs: 2000,
    teardownTimeoutMs: 1000,
    admission: "respond",
    boundary: "response",
  });
  assert.equal(parseOptions([], { PORT: "8" }).port, 8);
});

test("a default gives way to LASTCALL_* and never makes a budget that cannot fit", () => {
  const environment = {
    LASTCALL_GRACE_PERIOD: "5s",
    LASTCALL_DRAIN_DELAY: "1s",
    LASTCALL_BOUNDARY: "response",
  };
  assert.deepEqual(parseOptions([], environment).lifecycle, {});
  assert.deepEqual(parseOptions(["--grace-period", "8s"], {}).lifecycle, {
    gracePeriodMs: 8000,
    drainDelayMs: 0,
    boundary: "handler",
  });
});

test("what cannot be used is refused with what was seen", () => {
  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [["--prot", "1"], /'--prot'[^]*Known options: --build/],
    [["--drain-delay", "5"], /--drain-delay is "5": write a duration such as 5s/],
    [["--port", "70000"], /--port is "70000"/],
    [["--build", "best"], /--build is "best": choose one of bare, naive, lastcall/],
    [["--admission", "maybe"], /--admission is "maybe": choose one of close, respond/],
  ];
  for (const [args, message] of refused) {
    assert.throws(
      () => parseOptions(args, {}),
      (error: unknown) => error instanceof UsageError && message.test(error.message),
    );
  }
  const child = spawnSync(process.execPath, [serverFile, "--build", "best"], { encoding: "utf8" });
  assert.equal(child.status, 2);
  assert.match(child.stderr, /^orders: --build is "best"/);
});
