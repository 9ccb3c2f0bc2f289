import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { ask, AUTO, fixture, start, type Child } from "./child.ts";

const NEW_PID_NAMESPACE = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"];
const isPermitted =
  spawnSync("unshare", [...NEW_PID_NAMESPACE.slice(1), "true"], { stdio: "ignore" }).status === 0;
const skip = isPermitted || process.env["CI"] !== undefined ? false : "unshare --pid is not permitted here";

const BIN = fileURLToPath(new URL("../../bin/lastcall-takeover", import.meta.url));

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // Reaped meanwhile.
    return false;
  }
}

async function startAsInit(
  t: TestContext,
  program: string,
  nodeArgs: readonly string[],
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly child: Child; readonly port: number; readonly pid: number }> {
  const child = start(t, fixture(program), {
    command: [...NEW_PID_NAMESPACE, process.execPath],
    nodeArgs,
    args,
    env: { LASTCALL_DRAIN_DELAY: "200ms", ...env },
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

  test("G1 lastcall-takeover: a reload, orphans reaped, the exit code passed on", async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "lastcall-takeover-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const mode = path.join(folder, "mode");
    writeFileSync(mode, "serves");
    const child = start(t, BIN, {
      command: NEW_PID_NAMESPACE,
      args: [fixture("takeover-app"), mode, "0"],
      env: { PATH: `${path.dirname(process.execPath)}:${process.env["PATH"]}`, LASTCALL_GRACE_PERIOD: "8s" },
    });
    const port = await child.port();
    const init = childrenOf(child.process.pid ?? 0)[0] ?? 0;
    const [first] = /^serves \d+$/m.exec(child.stdout()) ?? [];
    process.kill(init, "SIGHUP");
    await child.warned("has ended with exit code 0");
    assert.match((await ask(port, "/")).body, /^pid \d+/);
    assert.notEqual(`serves ${/^pid (\d+)/.exec((await ask(port, "/")).body)?.[1]}`, first);
    await ask(port, "/orphan");
    // The orphan lives for 200 ms, and becomes a zombie of the init that nobody but the init can remove.
    for (let zombies = 1; zombies > 0;) {
      await new Promise((resolve) => {
        setTimeout(resolve, 400);
      });
      zombies = childrenOf(init).filter(isZombie).length;
    }
    assert.equal(childrenOf(init).length, 1, "the parent of the copies alone");
    process.kill(init, "SIGTERM");
    assert.equal(await child.ended(), 0);
  });

  test("G1 ended orphans, which Node does not reap, are named at the stop", async (t) => {
    const { child, pid } = await startAsInit(t, "app", ["--import", AUTO], ["none"], { ORPHANS: "2" });
    const zombies = (): number => {
      const { stdout } = spawnSync("ps", ["-o", "stat=", "--ppid", String(pid)], { encoding: "utf8" });
      return stdout.match(/Z/g)?.length ?? 0;
    };
    while (zombies() < 2) {
      // Their last instants.
    }
    process.kill(pid, "SIGTERM");
    assert.equal(await child.ended(), 0);
    assert.match(
      child.stderr(),
      /inherited 2 processes .*: sleep \(pid \d+\), sleep \(pid \d+\)\. .*LASTCALL_ZOMBIES/,
    );
  });

  test("G1 an explicit lifecycle: drained, exit code 0", async (t) => {
    const { child, pid } = await startAsInit(t, "explicit-app", [], ["before-listen"]);
    process.kill(pid, "SIGTERM");
    assert.equal(await child.ended(), 0);
    assert.equal(child.record()?.pid, 1);
  });
});
