import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { ask, AUTO, fixture, start, type Child, type ChildOptions } from "./child.ts";
import { startClients } from "./clients.ts";
import { freePort } from "./free-port.ts";

const MAIN = fileURLToPath(new URL("../src/node-takeover-main.js", import.meta.url));

interface Running {
  readonly child: Child;
  /** What copies that start from now on do. */
  mode(mode: string): void;
  readonly folder: string;
}

interface Setup {
  readonly listen?: string;
  readonly style?: string;
  readonly options?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly first?: string;
  readonly child?: ChildOptions;
}

function takeover(t: TestContext, setup: Setup = {}): Running {
  const folder = mkdtempSync(path.join(tmpdir(), "lastcall-takeover-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "mode");
  writeFileSync(file, setup.first ?? "serves");
  const child = start(t, MAIN, {
    ...setup.child,
    args: [
      ...(setup.options ?? []),
      fixture("takeover-app"),
      file,
      setup.listen ?? "0",
      setup.style ?? "auto",
    ],
    env: { LASTCALL_GRACE_PERIOD: "20s", ...setup.env },
  });
  return { child, folder, mode: (mode) => writeFileSync(file, mode) };
}

/** The pids of the copies that have served, in their order. */
function copies(child: Child): readonly number[] {
  return [...child.stdout().matchAll(/^serves (\d+)$/gm)].map(([, pid]) => Number(pid));
}

/** One reload, until the old copy has left. */
async function reload(child: Child): Promise<void> {
  const old = copies(child).at(-1);
  child.process.kill("SIGHUP");
  await child.warned(`pid ${old} has ended`);
}

async function stop(child: Child, signal: NodeJS.Signals = "SIGTERM"): Promise<number | NodeJS.Signals> {
  child.process.kill(signal);
  return child.ended();
}

function isAlive(pid: number): boolean {
  try {
    // A zombie is no process any more: only its parent has not looked yet.
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

suite("a reload replaces the process and loses nothing", { concurrency: 2 }, () => {
  for (const style of ["auto", "explicit"]) {
    test(`A8 no connection is lost over four reloads under load (${style})`, async (t) => {
      const { child } = takeover(t, { style });
      const port = await child.port();
      const clients = startClients(port);
      for (let n = 0; n < 4; n += 1) {
        await reload(child);
      }
      assert.deepEqual([...(await clients.end()).keys()], [200]);
      assert.equal(new Set(copies(child)).size, 5);
      assert.equal(await stop(child), 0);
      assert.equal((await ask(port, "/")).status, "refused");
    });
  }

  test("B1 a request in flight at the reload is answered by the old copy, others at once by the new one", async (t) => {
    const { child } = takeover(t);
    const port = await child.port();
    const [old] = copies(child);
    const held = ask(port, "/hold");
    await child.said("held");
    child.process.kill("SIGHUP");
    await child.warned(`; pid ${old} leaves`);
    // While both accept, either may answer; the old one closes its listener within moments.
    while ((await ask(port, "/")).body.startsWith(`pid ${old}`)) {
      assert.equal(child.process.exitCode, null);
    }
    assert.deepEqual(await held, { status: 200, body: `held by ${old}\n` });
    assert.equal(await stop(child), 0);
  });

  test("A4 a reload has no drain delay, whatever a stop has: routers go on sending, and both copies are ready", async (t) => {
    const { child } = takeover(t, { env: { LASTCALL_DRAIN_DELAY: "4s" } });
    await child.port();
    await reload(child);
    const record = child.record();
    assert.equal(record?.pid, copies(child)[0]);
    assert.ok((record?.phases.lameDuckMs ?? 4000) < 2000);
    assert.equal(await stop(child), 0);
    const last = child.records().at(-1);
    assert.ok((last?.phases.lameDuckMs ?? 0) >= 3900, "a stop has the delay");
  });

  test("a new copy that dies at start changes nothing, and the next reload works", async (t) => {
    const { child, mode } = takeover(t);
    const port = await child.port();
    const [first] = copies(child);
    mode("dies");
    child.process.kill("SIGHUP");
    await child.warned("[LASTCALL_TAKEOVER_START]");
    assert.match(
      child.stderr(),
      new RegExp(`ended with exit code 5 before it was ready. pid ${first} goes on`),
    );
    assert.match((await ask(port, "/")).body, new RegExp(`^pid ${first} `));
    mode("serves");
    await reload(child);
    assert.match((await ask(port, "/")).body, new RegExp(`^pid ${copies(child)[1]} `));
    assert.equal(await stop(child), 0);
  });

  test("a new copy that never becomes ready changes nothing, and does not stay", async (t) => {
    const { child, mode } = takeover(t, { options: ["--ready-timeout", "6s"] });
    const port = await child.port();
    const [first] = copies(child);
    mode("never");
    child.process.kill("SIGHUP");
    await child.warned("[LASTCALL_TAKEOVER_READY]");
    const pid = Number(/pid (\d+) has not become ready/.exec(child.stderr())?.[1]);
    await child.warned(`pid ${pid} has ended`);
    assert.equal(isAlive(pid), false);
    assert.match((await ask(port, "/")).body, new RegExp(`^pid ${first} `));
    assert.equal(await stop(child), 0);
  });

  test("A1 a readiness probe on the admin port is the new copy's from the reload on", async (t) => {
    const admin = await freePort();
    const { child } = takeover(t, { env: { LASTCALL_ADMIN_PORT: String(admin) } });
    const port = await child.port();
    const held = ask(port, "/hold");
    await child.said("held");
    const [old] = copies(child);
    child.process.kill("SIGHUP");
    await child.warned(`; pid ${old} leaves`);
    await child.warned("deadline in");
    // The old one drains for more than a second yet; within moments nobody asks it any more.
    let ready = 0;
    while (ready < 20) {
      ready = (await ask(admin, "/readyz")).status === 200 ? ready + 1 : 0;
      assert.equal(child.process.exitCode, null);
    }
    assert.equal((await held).status, 200);
    assert.equal(await stop(child), 0);
  });

  test("two signals while a copy starts are one more reload, not two", async (t) => {
    const { child } = takeover(t);
    await child.port();
    child.process.kill("SIGHUP");
    while ((child.stderr().match(/ starts$/gm)?.length ?? 0) < 2) {
      await child.more("stderr");
    }
    child.process.kill("SIGHUP");
    await child.warned("a reload is under way");
    child.process.kill("SIGHUP");
    const [first] = copies(child);
    await child.warned(`pid ${first} has ended`);
    await child.warned(`pid ${copies(child)[1]} has ended`);
    assert.equal(await stop(child), 0);
    assert.equal(copies(child).length, 3);
  });

  test("a port that the new copy does not want any more is closed, and its new one is held", async (t) => {
    const { child, mode } = takeover(t, { listen: String(await freePort()) });
    const port = await child.port();
    mode("moves");
    await reload(child);
    await child.warned("does not listen there");
    // The new copy has to be told to let go as well.
    while ((await ask(port, "/")).status !== "refused") {
      assert.equal(child.process.exitCode, null);
    }
    const moved = Number(child.stdout().match(/listening (\d+)\n$/)?.[1]);
    await reload(child);
    assert.match((await ask(moved, "/")).body, new RegExp(`^pid ${copies(child)[2]} `));
    assert.equal(await stop(child), 0);
  });

  test("G5 a unix socket is handed on too, and its file is gone at the end", async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "lastcall-takeover-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const socketPath = path.join(folder, "app.sock");
    const { child } = takeover(t, { listen: socketPath });
    await child.said("listening ");
    for (let n = 0; n < 2; n += 1) {
      await reload(child);
      assert.match(await askPath(socketPath), new RegExp(`^pid ${copies(child).at(-1)} `));
    }
    assert.equal(await stop(child), 0);
    assert.equal(existsSync(socketPath), false);
  });
});

suite("a stop is the app's own", { concurrency: 2 }, () => {
  test("B1 SIGTERM is passed on, the request in flight is answered, and nobody waits for nobody afterwards", async (t) => {
    const { child } = takeover(t);
    const port = await child.port();
    const held = ask(port, "/hold");
    await child.said("held");
    child.process.kill("SIGTERM");
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
    assert.equal((await ask(port, "/")).status, "refused");
  });

  test("B1 with auto mode in NODE_OPTIONS, which the parent inherits too, it is the same", async (t) => {
    const { child } = takeover(t, { env: { NODE_OPTIONS: `--import ${AUTO}` } });
    const port = await child.port();
    const held = ask(port, "/hold");
    await child.said("held");
    child.process.kill("SIGTERM");
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
    assert.doesNotMatch(child.stderr(), /has gone/);
    assert.equal(child.stderr().match(/"schema"/g)?.length, 1);
  });

  test("E3 the exit code is the serving copy's: 3 when its stop was incomplete", async (t) => {
    const { child } = takeover(t, { env: { LASTCALL_GRACEFUL_TIMEOUT: "500ms" } });
    void ask(await child.port(), "/stuck");
    await child.said("stuck");
    assert.equal(await stop(child), 3);
  });

  test("A7 a second signal is passed on: it ends the drain delay", async (t) => {
    const { child } = takeover(t, { env: { LASTCALL_GRACE_PERIOD: "60s", LASTCALL_DRAIN_DELAY: "30s" } });
    await child.port();
    child.process.kill("SIGTERM");
    await child.warned("serving on for 30 s");
    // A signal counts as a new one only after 200 ms of silence.
    await new Promise((resolve) => {
      setTimeout(resolve, 400);
    });
    assert.equal(await stop(child), 0);
    assert.ok((child.record()?.phases.lameDuckMs ?? 30_000) < 20_000);
  });

  test("G2 a stop while a new copy starts stops both, and the exit code is the old one's", async (t) => {
    const { child, mode } = takeover(t);
    await child.port();
    mode("never");
    child.process.kill("SIGHUP");
    await child.said("never ");
    assert.equal(await stop(child), 0);
    const pid = Number(/never (\d+)/.exec(child.stdout())?.[1]);
    assert.equal(isAlive(pid), false);
  });

  test("a copy that ends by itself ends the parent with its exit code", async (t) => {
    const { child } = takeover(t);
    assert.equal((await ask(await child.port(), "/exit")).status, "cut");
    assert.equal(await child.ended(), 7);
  });

  test("a parent that is killed leaves no copy behind, and the request in flight is answered", async (t) => {
    const { child } = takeover(t);
    const port = await child.port();
    const [pid = 0] = copies(child);
    const held = ask(port, "/hold");
    await child.said("held");
    child.process.kill("SIGKILL");
    assert.equal((await held).status, 200);
    // The standard streams are the copy's too: they end with it.
    await child.ended();
    assert.match(child.stderr(), /lastcall-takeover has gone/);
    // They are closed a moment before it is gone.
    while (isAlive(pid)) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  });
});

test("a parent that is killed while a copy starts leaves none behind either", async (t) => {
  const { child } = takeover(t);
  await child.warned(" starts");
  child.process.kill("SIGKILL");
  // The standard streams are the copy's too.
  await child.ended();
});

suite("what cannot work is said with a code", { concurrency: 2 }, () => {
  test("a script that does not exist", async (t) => {
    const child = start(t, MAIN, { args: ["/nonexistent/app.js"] });
    assert.equal(await child.ended(), 2);
    assert.match(child.stderr(), /There is no file '\/nonexistent\/app\.js'.*\[LASTCALL_TAKEOVER_SCRIPT\]/);
  });

  test("a command of the lab, which `npx lastcall check` asks for where the lab is not installed", async (t) => {
    const child = start(t, MAIN, { args: ["check", "--", "node", "app.js"] });
    assert.equal(await child.ended(), 2);
    assert.match(child.stderr(), /`lastcall check` is in @lastcall\/lab: npm install/);
  });

  test("no script, and a time that is none", async (t) => {
    const none = start(t, MAIN);
    assert.equal(await none.ended(), 2);
    assert.match(none.stderr(), /\[LASTCALL_TAKEOVER_SCRIPT\]/);
    const soon = start(t, MAIN, { args: ["--ready-timeout", "soon", fixture("app")] });
    assert.equal(await soon.ended(), 2);
    assert.match(soon.stderr(), /--ready-timeout=soon is no duration/);
  });

  test("a port in use: the exit code is the app's, and the port is named", async (t) => {
    const other = createServer().listen(0, "127.0.0.1");
    t.after(() => other.close());
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { child } = takeover(t, { listen: String(port) });
    assert.equal(await child.ended(), 1);
    assert.match(child.stderr(), new RegExp(`127.0.0.1:${port} is in use.*\\[LASTCALL_TAKEOVER_PORT\\]`));
  });

  test("a first copy that dies ends the parent with its exit code; one that is never ready, with 1", async (t) => {
    const dies = takeover(t, { first: "dies" });
    assert.equal(await dies.child.ended(), 5);
    assert.match(dies.child.stderr(), /\[LASTCALL_TAKEOVER_START\]/);
    const never = takeover(t, { first: "never", options: ["--ready-timeout=2500ms"] });
    assert.equal(await never.child.ended(), 1);
    assert.match(never.child.stderr(), /has not become ready within 2\.5 s.*\[LASTCALL_TAKEOVER_READY\]/);
  });
});

async function askPath(socketPath: string): Promise<string> {
  const [response] = (await once(http.get({ socketPath, agent: false }), "response")) as [
    http.IncomingMessage,
  ];
  let body = "";
  for await (const part of response.setEncoding("utf8")) {
    body += String(part);
  }
  return body;
}
