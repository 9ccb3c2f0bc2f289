import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
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
