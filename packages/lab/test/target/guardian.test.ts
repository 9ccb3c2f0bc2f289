import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startChild } from "../../src/target/child.ts";
import { startGuardian } from "../../src/target/guardian.ts";
import { makeFolder } from "../folder.ts";
import { allGone, isAlive } from "../processes.ts";

const LAB = fileURLToPath(new URL("../fixtures/keeps-copies.js", import.meta.url));

async function lab(
  ...args: string[]
): Promise<{ readonly pids: readonly number[]; readonly kill: () => Promise<void> }> {
  const child = spawn(process.execPath, [LAB, makeFolder("guardian"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  const pids = text.toString().trim().split(" ").map(Number);
  assert.equal(pids.length, 2, text.toString());
  return {
    pids,
    kill: async () => {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) {
        await once(child, "exit");
      }
    },
  };
}

test("a lab that is ended by SIGKILL leaves no copy behind, nor what the copy has started", async () => {
  const { pids, kill } = await lab();
  assert.ok(pids.every(isAlive), "both run while the lab does");
  await kill();
  await allGone(pids);
});

test("a lab that leaves by itself takes its copies along", async () => {
  const { pids, kill } = await lab("exit");
  await allGone(pids);
  await kill();
});

test("a child that is started after the end is ended at once", async () => {
  const guardian = startGuardian();
  guardian.close();
  const late = spawn(process.execPath, ["-e", "setInterval(Boolean, 1000)"], {
    detached: true,
    stdio: "ignore",
  });
  const ended = once(late, "exit");
  guardian.watch(late.pid ?? 0);
  assert.deepEqual(await ended, [null, "SIGKILL"]);
});

/** Resolves when it has; fails after ten seconds. */
async function leftGroup(pid: number, group: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (Number(execFileSync("ps", ["-o", "pgid=", "-p", String(pid)], { encoding: "utf8" })) !== group) {
      return;
    }
    await sleep(50);
  }
  throw new Error(`${pid} is still of the group ${group}`);
}

const LEAVES_ITS_GROUP = ["/bin/sh", "-c", "setsid sleep 600 > /dev/null 2>&1 & echo $!; wait"];

test(
  "a process that has left the group of its copy is ended with the lab",
  { skip: process.platform === "linux" ? false : "read from /proc" },
  async () => {
    const guardian = startGuardian();
    const spec = { command: LEAVES_ITS_GROUP, env: process.env, cwd: makeFolder("stray") };
    const { pid, process: child } = await startChild(spec, guardian);
    const [text] = (await once(child.stdout, "data")) as [Buffer];
    const stray = Number(text.toString());
    await leftGroup(stray, pid);
    guardian.release(pid);
    assert.ok(isAlive(stray), "it is not of the group");
    guardian.close();
    await allGone([pid, stray]);
  },
);

test(
  "and also when the lab is ended by SIGKILL",
  { skip: process.platform === "linux" ? false : "read from /proc" },
  async () => {
    const { pids, kill } = await lab("stray");
    await leftGroup(pids[1] ?? 0, pids[0] ?? 0);
    await kill();
    await allGone(pids);
  },
);
