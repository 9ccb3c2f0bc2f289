import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, test } from "node:test";
import { describeWrapper, type Ancestor } from "../../src/platform/wrapper.ts";
import { ask, AUTO, fixture, start } from "../child.ts";

function parent(...args: readonly string[]): Ancestor {
  return { pid: 7, args };
}

const SILENT: readonly (readonly Ancestor[])[] = [
  [],
  [parent("/sbin/tini", "--", "node", "app.js")],
  [parent("/bin/bash")],
  [parent("-bash")],
  [parent("bash", "-l")],
  [parent("sh", "-c", "trap 'kill $!' TERM; node app.js & wait")],
  [{ pid: 7, args: ["/bin/sh", "/entrypoint.sh"], script: "trap stop TERM\nnode app.js & wait\n" }],
  // In the background of a script that goes on and signals it itself.
  [
    {
      pid: 7,
      args: ["bash", "test.sh"],
      script: "node app.js &\nPID=$!\ncurl localhost\nkill $PID\nwait $PID\necho ok\n",
    },
  ],
  [{ pid: 7, args: ["bash", "dev.sh"], script: "#!/bin/bash\nnode app.js &\nnode other.js 2>&1 | cat\n" }],
  [parent("bash", "-c", "node app.js & sleep 1; curl localhost")],
  // Its script says `exec node app.js`, or its shell does that by itself.
  [parent("npm start")],
  [parent("/usr/bin/node", "supervisor.js")],
  [parent("nginx: master")],
];
const WARNED: readonly (readonly [readonly Ancestor[], RegExp])[] = [
  [[parent("sh", "-c", "node app.js")], /^`sh -c "node app\.js"` \(pid 7\) gets the stop signal instead/],
  [[parent("/bin/dash", "-ec", "node app.js")], /^`dash -c "node app\.js"`/],
  [[parent("busybox", "sh", "-c", "node app.js; true")], /node app\.js; true/],
  [
    [{ pid: 7, args: ["/bin/sh", "/entrypoint.sh"], script: "migrate && echo done 2>&1\nnode app.js\n" }],
    /^`\/entrypoint\.sh` \(pid 7\)/,
  ],
  [
    [{ pid: 7, args: ["/bin/sh", "/entrypoint.sh"], script: "node app.js &\nwait $!; exit $?\n" }],
    /^`\/entrypoint\.sh` \(pid 7\)/,
  ],
  [
    [{ pid: 1, args: ["/bin/sh", "/entrypoint.sh"], script: "node app.js &\nnginx -g 'daemon off;'\n" }],
    /^`\/entrypoint\.sh` \(pid 1\)/,
  ],
  [[parent("/bin/sh", "/entrypoint.sh")], /^`\/entrypoint\.sh` \(pid 7\) gets the stop signal/],
  [[parent("sh", "-c", "node app.js"), parent("npm start")], /, started by `npm start`, gets/],
  [[parent("sh", "-c", "node app.js"), parent("npm exec app")], /, started by `npm exec app`, gets/],
  [[parent("/usr/bin/node", "/opt/pnpm/bin/pnpm.cjs", "start")], /^`pnpm start` \(pid 7\) does not wait/],
  [[parent("node", "/usr/bin/yarn", "start")], /^`yarn start`/],
];

test("a wrapper that passes the signal on, or that somebody types into, is no reason to warn", () => {
  for (const ancestors of SILENT) {
    assert.equal(describeWrapper(ancestors), null, JSON.stringify(ancestors));
  }
});

test("a wrapper that keeps the signal is named, with what to do", () => {
  for (const [ancestors, expected] of WARNED) {
    assert.match(describeWrapper(ancestors) ?? "", expected);
  }
});

const isDash = /dash/.test(spawnSync("readlink", ["-f", "/bin/sh"], { encoding: "utf8" }).stdout);

suite("G1 the warning is true of real wrappers", { concurrency: 2 }, () => {
  const command = (words: string): string =>
    `${words} ${process.execPath} --import ${AUTO} ${fixture("app")}`;

  test(
    "G1 under `sh -c` on dash it warns at start, and the signal does not come",
    { skip: !isDash && "/bin/sh is no dash" },
    async (t) => {
      const child = start(t, command(""), { command: ["/bin/sh", "-c"] });
      const port = await child.port();
      await child.warned("LASTCALL_WRAPPER");
      const pid = readChildren(child.process.pid ?? 0);
      t.after(() => process.kill(pid, "SIGKILL"));
      child.process.kill("SIGTERM");
      await new Promise((resolve) => child.process.once("exit", resolve));
      assert.equal((await ask(port, "/")).status, 200);
      assert.doesNotMatch(child.stderr(), /SIGTERM: not ready/);
      process.kill(pid, "SIGTERM");
      await child.ended();
    },
  );

  test("G1 under `sh -c exec` it says nothing, and the signal comes", async (t) => {
    const child = start(t, command("exec"), { command: ["/bin/sh", "-c"] });
    await child.port();
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
    assert.doesNotMatch(child.stderr(), /LASTCALL_WRAPPER/);
  });

  test(
    "G1 under `npm start` it names npm and what to write",
    { skip: !isDash && "/bin/sh is no dash" },
    async (t) => {
      const folder = mkdtempSync(path.join(tmpdir(), "lastcall-npm-"));
      t.after(() => rmSync(folder, { recursive: true, force: true }));
      writeFileSync(path.join(folder, "package.json"), JSON.stringify({ scripts: { start: command("") } }));
      const child = start(t, "start", {
        command: ["npm", "--prefix", folder],
        env: { HOME: folder, npm_config_update_notifier: "false" },
      });
      await child.port();
      await child.warned("LASTCALL_WRAPPER");
      assert.match(child.stderr(), /started by `npm (?:--prefix \S+ )?start/);
      const shell = readChildren(child.process.pid ?? 0);
      process.kill(readChildren(shell), "SIGTERM");
      await child.ended();
    },
  );
});

test("auto mode stays out of package managers, which inherit NODE_OPTIONS", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "lastcall-npm-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const run = `exec ${process.execPath} ${fixture("app")}`;
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ scripts: { start: run } }));
  const child = start(t, "start", {
    command: ["npm", "--prefix", folder],
    env: { HOME: folder, npm_config_update_notifier: "false", NODE_OPTIONS: `--import ${AUTO}` },
  });
  const held = ask(await child.port(), "/hold");
  await child.said("held");
  child.process.kill("SIGTERM");
  assert.equal((await held).status, 200);
  assert.equal(await child.ended(), 0);
  assert.equal(child.stderr().match(/"schema"/g)?.length, 1);
});

/** The only child of a process. */
function readChildren(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
}
