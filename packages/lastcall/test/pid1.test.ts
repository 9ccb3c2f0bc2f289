import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { suite, test, type TestContext } from "node:test";
import { ask, AUTO, fixture, start, type Child } from "./child.ts";

const NEW_PID_NAMESPACE = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"];
const isPermitted =
  spawnSync("unshare", [...NEW_PID_NAMESPACE.slice(1), "true"], { stdio: "ignore" }).status === 0;
const skip = isPermitted || process.env["CI"] !== undefined ? false : "unshare --pid is not permitted here";

async function startAsInit(
  t: TestContext,
  program: string,
  nodeArgs: readonly string[],
  args: readonly string[],
): Promise<{ readonly child: Child; readonly port: number; readonly pid: number }> {
  const child = start(t, fixture(program), {
    command: [...NEW_PID_NAMESPACE, process.execPath],
    nodeArgs,
    args,
    env: { LASTCALL_DRAIN_DELAY: "200ms" },
  });
  const port = await child.port();
  const found = spawnSync("ps", ["-o", "pid=", "--ppid", String(child.process.pid)], { encoding: "utf8" });
  return { child, port, pid: Number(found.stdout.trim()) };
}

suite("G1 it works as PID 1", { concurrency: 2, skip }, () => {
  for (const style of ["none", "closeThenExit", "signalsItself"]) {
    test(`G1 auto mode with the stop handler '${style}': drained, exit code 0`, async (t) => {
      const { child, port, pid } = await startAsInit(t, "app", ["--import", AUTO], [style]);
      const held = ask(port, "/hold");
      await child.said("held");
      process.kill(pid, "SIGTERM");
      assert.equal((await held).status, 200);
      assert.equal(await child.ended(), 0);
      assert.equal(child.record()?.pid, 1);
      assert.equal(child.record()?.outcome, "drained");
    });
  }

  test("G1 an explicit lifecycle: drained, exit code 0", async (t) => {
    const { child, pid } = await startAsInit(t, "explicit-app", [], ["before-listen"]);
    process.kill(pid, "SIGTERM");
    assert.equal(await child.ended(), 0);
    assert.equal(child.record()?.pid, 1);
  });
});
