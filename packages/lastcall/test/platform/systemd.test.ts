import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { unitOf } from "../../src/platform/systemd.ts";
import { ask, AUTO, fixture, start } from "../child.ts";

/** Python has the datagram sockets that Node lacks. */
const receiver = fileURLToPath(new URL("../../../test/fixtures/notify-socket.py", import.meta.url));
const has = (command: string): boolean => spawnSync(command, ["--version"]).status === 0;
const skip = has("python3") && has("systemd-notify") ? false : "python3 and systemd-notify are not here";

suite("G6 systemd is told", { concurrency: 2 }, () => {
  test("G6 READY when it is ready, STOPPING with the longer timeout at the signal", { skip }, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "lastcall-notify-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const socket = path.join(folder, "notify");
    const systemd = start(t, receiver, { command: ["python3"], args: [socket] });
    await systemd.said("bound");
    const child = start(t, fixture("app"), {
      nodeArgs: ["--import", AUTO],
      env: { NOTIFY_SOCKET: socket, LASTCALL_GRACE_PERIOD: "20s" },
    });
    const port = await child.port();
    await systemd.said("READY=1 STATUS=serving");
    const held = ask(port, "/hold");
    await child.said("held");
    child.process.kill("SIGTERM");
    await systemd.said("STOPPING=1 STATUS=draining, at most 1");
    await systemd.said("EXTEND_TIMEOUT_USEC=20000000");
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
    await systemd.said("STATUS=closing");
  });

  test("G6 a NOTIFY_SOCKET that nobody reads is named and changes nothing", { skip }, async (t) => {
    const child = start(t, fixture("app"), {
      nodeArgs: ["--import", AUTO],
      env: { NOTIFY_SOCKET: "/nonexistent/notify" },
    });
    await child.warned("nobody reads NOTIFY_SOCKET");
    assert.equal((await ask(await child.port(), "/")).status, 200);
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
  });
});

test("the unit of a process is read from its cgroup", () => {
  const v2 = "0::/system.slice/app.service\n";
  const v1 = "5:memory:/system.slice/other.service\n1:name=systemd:/system.slice/app.service/worker\n0::/\n";
  const users = "0::/user.slice/user-0.slice/user@0.service/app.slice/app.service\n";
  assert.deepEqual(unitOf(v2), { name: "app.service", isUsers: false });
  assert.deepEqual(unitOf(v1), { name: "app.service", isUsers: false });
  assert.deepEqual(unitOf(users), { name: "app.service", isUsers: true });
  assert.equal(unitOf("0::/user.slice/session-1.scope\n"), null);
});

test(
  "G6 a NOTIFY_SOCKET whose queue is full neither hangs the app nor leaves a helper behind",
  { skip },
  async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "lastcall-notify-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const socket = path.join(folder, "notify");
    const full = start(t, receiver, { command: ["python3"], args: [socket, "full"] });
    await full.said("bound");
    const child = start(t, fixture("app"), { nodeArgs: ["--import", AUTO], env: { NOTIFY_SOCKET: socket } });
    assert.equal((await ask(await child.port(), "/")).status, 200);
    await child.warned("systemd-notify ended with no answer");
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
  },
);
