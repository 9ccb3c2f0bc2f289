import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { suite, test, type TestContext } from "node:test";
import { ask, AUTO, fixture, start, type Child, type ChildOptions } from "./child.ts";
import { freePort } from "./free-port.ts";
import { dial } from "./servers/rig.ts";

const BUDGET = { LASTCALL_GRACE_PERIOD: "20s", LASTCALL_DRAIN_DELAY: "300ms" };

function startAuto(context: TestContext, style: string, options: ChildOptions = {}): Child {
  return start(context, fixture("app"), {
    args: [style],
    nodeArgs: ["--import", AUTO],
    ...options,
    env: { ...BUDGET, ...options.env },
  });
}

/** One request in flight across the stop signal, the gate and the app's handler. */
async function stopWithHeldRequest(child: Child): Promise<Awaited<ReturnType<typeof ask>>> {
  const port = await child.port();
  const held = ask(port, "/hold");
  await child.said("held");
  child.process.kill("SIGTERM");
  await child.warned("SIGTERM: not ready");
  assert.equal((await ask(port, "/")).status, 200, "it serves through the drain delay");
  await child.warned("calling the app's own SIGTERM handler");
  await child.said("handler");
  return held;
}

suite("G8 a foreign stop handler waits for the gate and cuts nothing", { concurrency: 2 }, () => {
  const cases = [
    { style: "closeThenExit", code: 0, says: "closed", foreign: /asked for exit code 0/ },
    { style: "exitAtOnce", code: 7, says: "handler", foreign: /asked for exit code 7/ },
    {
      style: "awaitsClose",
      code: 0,
      says: "cleaned up",
      foreign: /awaitsClose \(.*app\.js:\d+\), held \d+ ms$/,
    },
    { style: "signalsItself", code: 0, says: "handler", foreign: /signalled itself/ },
    { style: "closeOnly", code: 0, says: "handler", foreign: /closeOnly/ },
    { style: "forcesLater", code: 9, says: "handler", foreign: /asked for exit code 9/ },
    { style: "once", code: 0, says: "closed", foreign: /closeThenExit/ },
  ];
  for (const { style, code, says, foreign } of cases) {
    test(`G8 ${style}: the request in flight is answered, and the app's exit is given afterwards`, async (t) => {
      const child = startAuto(t, style);
      const answer = await stopWithHeldRequest(child);
      assert.deepEqual(answer, { status: 200, body: "held work is done\n" });
      assert.equal(await child.ended(), code);
      const record = child.record();
      assert.equal(record?.outcome, "drained");
      assert.equal(record?.endedBy, "lastcall");
      assert.equal(record?.requests.unfinished, 0);
      assert.equal(record?.foreign.length, 1);
      assert.match(record?.foreign[0] ?? "", foreign);
      assert.match(child.stdout(), new RegExp(says));
      assert.equal(child.stdout().match(/handler/g)?.length, 1);
    });
  }

  test("G8 a handler that was registered before auto mode is held as well", async (t) => {
    const child = startAuto(t, "none", {
      nodeArgs: ["--import", fixture("handler-first"), "--import", AUTO],
    });
    const port = await child.port();
    const held = ask(port, "/hold");
    await child.said("held");
    child.process.kill("SIGTERM");
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
    assert.match(child.record()?.foreign[0] ?? "", /^SIGTERM: early, held \d+ ms, asked for exit code 0/);
  });

  test("G8 a handler that the app has taken off is not called", async (t) => {
    const child = startAuto(t, "removed");
    await child.port();
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
    assert.doesNotMatch(child.stdout(), /handler/);
    assert.deepEqual(child.record()?.foreign, []);
  });

  test("G8 a handler that never ends is bounded by the teardown timeout", async (t) => {
    const child = startAuto(t, "neverEnds", { env: { LASTCALL_TEARDOWN_TIMEOUT: "300ms" } });
    await child.port();
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 3);
    assert.deepEqual(
      child.record()?.teardown.map(({ outcome }) => outcome),
      ["timed out"],
    );
  });

  for (const style of ["finishesJob", "finishesJobOnceClosed"]) {
    test(`D1 G8 what a handler promises to finish has the graceful timeout, not only the teardown's (${style})`, async (t) => {
      const child = startAuto(t, style, { env: { LASTCALL_TEARDOWN_TIMEOUT: "300ms" } });
      await child.port();
      child.process.kill("SIGTERM");
      assert.equal(await child.ended(), 0);
      assert.match(child.stdout(), /job done/);
      const record = child.record();
      assert.equal(record?.tasks.completed, 1);
      assert.match(record?.foreign[0] ?? "", /asked for exit code 0/);
    });
  }

  test("B7 G8 a crowd of idle connections is left to the exit, also while a handler keeps its promise", async (t) => {
    const child = startAuto(t, "finishesJob", { env: { LASTCALL_DRAIN_DELAY: "0" } });
    const port = await child.port();
    const wires = await Promise.all(Array.from({ length: 300 }, () => dial(port)));
    let ended = 0;
    for (const wire of wires) {
      wire.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      void wire.ended.then(() => (ended += 1));
    }
    await Promise.all(wires.map((wire) => wire.until(/200 OK/)));
    child.process.kill("SIGTERM");
    await child.said("job done");
    assert.equal(ended, 0);
    assert.equal(await child.ended(), 0);
    await Promise.all(wires.map((wire) => wire.ended));
  });

  test("D2 G8 a promise that no handler keeps is given up at the deadline, and named", async (t) => {
    const child = startAuto(t, "finishesJob", {
      env: { LASTCALL_TEARDOWN_TIMEOUT: "300ms", LASTCALL_GRACEFUL_TIMEOUT: "600ms" },
    });
    await child.port();
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 3);
    assert.doesNotMatch(child.stdout(), /job done/);
    assert.deepEqual(
      child.record()?.unfinishedTasks.map(({ name, fate }) => `${name}: ${fate}`),
      ["the app's own stop handlers: aborted"],
    );
  });

  test("G4 a handler that throws fails the stop, as an uncaught error does", async (t) => {
    const child = startAuto(t, "throws");
    await child.port();
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 1);
    assert.deepEqual(child.record()?.errors, ["Error: a bug in the stop handler"]);
  });

  test("A5 G8 a handler that has the app refuse is called when old connections have lingered, not at the gate", async (t) => {
    const child = startAuto(t, "refusesFromNowOn", {
      env: { LASTCALL_LINGER: "1500ms", LASTCALL_LEAVE_ORDER: "listener-first" },
    });
    const port = await child.port();
    const held = ask(port, "/hold");
    await child.said("held");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    assert.equal((await ask(port, "/", agent)).status, 200);
    child.process.kill("SIGTERM");
    await child.warned("SIGTERM: not ready");
    while ((await ask(port, "/")).status !== "refused") {
      // The gate has not closed yet.
    }
    assert.doesNotMatch(child.stdout(), /handler/);
    assert.deepEqual(await ask(port, "/", agent), { status: 200, body: "hello\n" });
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
    assert.match(child.record()?.foreign[0] ?? "", /asked for exit code 0/);
  });

  test("G8 with LASTCALL_FOREIGN=run the handler runs at once and the record names it", async (t) => {
    const child = startAuto(t, "exitAtOnce", { env: { LASTCALL_FOREIGN: "run" } });
    await child.port();
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 7);
    const record = child.record();
    assert.equal(record?.endedBy, "app");
    assert.match(record?.foreign[0] ?? "", /^SIGTERM: exitAtOnce \(.*\), not held$/);
  });
});

suite("auto mode finds what the app has", { concurrency: 2 }, () => {
  test("A1 readiness on the admin port follows the first server that listens, and turns at the signal", async (t) => {
    const admin = await freePort();
    const child = startAuto(t, "none", { env: { LASTCALL_ADMIN_PORT: String(admin) } });
    const port = await child.port();
    assert.equal((await ask(admin, "/readyz")).status, 200);
    const held = ask(port, "/hold");
    await child.said("held");
    child.process.kill("SIGTERM");
    await child.warned("SIGTERM: not ready");
    assert.equal((await ask(admin, "/readyz")).status, 503);
    assert.equal((await ask(admin, "/livez")).status, 200);
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
  });

  test("A1 the app's own readiness path says no from the signal on, where it was named", async (t) => {
    const child = startAuto(t, "none", { env: { LASTCALL_PROBE_PATHS: "ready=/ready" } });
    const port = await child.port();
    assert.equal((await ask(port, "/ready?x")).body, "hello\n");
    const held = ask(port, "/hold");
    await child.said("held");
    child.process.kill("SIGTERM");
    await child.warned("SIGTERM: not ready");
    assert.deepEqual(await ask(port, "/ready?x"), { status: 503, body: '{"ready":false}\n' });
    assert.equal((await ask(port, "/")).body, "hello\n");
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
    assert.equal(child.record()?.leaveOrder, "announce-first", "somebody asks for readiness");
    assert.equal(child.record()?.requests.accepted, 2, "probes are no work");
  });

  for (const leaveOrder of ["announce-first", "listener-first"])
    test(`F3 an event stream of the app ends with its last chunk, whatever the app still writes (${leaveOrder})`, async (t) => {
      const child = startAuto(t, "none", { env: { LASTCALL_LEAVE_ORDER: leaveOrder } });
      const events = ask(await child.port(), "/events");
      await child.said("events");
      child.process.kill("SIGTERM");
      const { status, body } = await events;
      assert.equal(status, 200);
      assert.match(body, /^(?:data: tick\n\n)+$/);
      assert.equal(await child.ended(), 0);
      assert.equal(child.record()?.outcome, "drained");
    });

  test("B11 a server on a port named in LASTCALL_CLOSE_LAST_PORTS serves until everything else is done", async (t) => {
    const metrics = await freePort();
    const child = startAuto(t, "closeThenExit", {
      env: { METRICS_PORT: String(metrics), LASTCALL_CLOSE_LAST_PORTS: String(metrics) },
    });
    const held = ask(await child.port(), "/hold");
    await child.said("held");
    child.process.kill("SIGTERM");
    await child.said("handler");
    assert.deepEqual(await ask(metrics, "/"), { status: 200, body: "metrics\n" });
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
    assert.deepEqual(
      child.record()?.teardown.map(({ name }) => name),
      ["the app's own stop handlers", "servers that close last"],
    );
  });

  test("a server that speaks no HTTP is left alone during the drain and closed in teardown", async (t) => {
    const child = startAuto(t, "none", { env: { NET_SERVER: "1" } });
    const raw = await child.port("raw");
    const held = ask(await child.port(), "/hold");
    await child.said("held");
    child.process.kill("SIGTERM");
    await child.warned("SIGTERM: not ready");
    // It answers, though not in HTTP: it has not been closed.
    assert.equal((await ask(raw, "/")).status, "cut");
    assert.equal((await held).status, 200);
    assert.equal(await child.ended(), 0);
    assert.match(JSON.stringify(child.record()?.teardown), /"server on port \d+","outcome":"done"/);
  });
});

suite("auto mode changes nothing before the signal", { concurrency: 2 }, () => {
  test("a program that serves nothing ends as it would without: same output, same code, not a word", async (t) => {
    const child = start(t, fixture("script"), { nodeArgs: ["--import", AUTO] });
    assert.equal(await child.ended(), 4);
    assert.equal(child.stdout(), "done\nbefore exit\n");
    assert.equal(child.stderr(), "");
  });

  test("G2 a stop signal before anything listens ends the process with code 0", async (t) => {
    const child = start(t, "", {
      nodeArgs: ["--import", AUTO, "-e", "setInterval(() => {}, 1000); console.log('up')"],
    });
    await child.said("up");
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
    assert.equal(child.record()?.outcome, "drained");
  });

  test("impossible values: the app starts, each is named, and the default is used", async (t) => {
    const child = startAuto(t, "none", {
      env: {
        LASTCALL_GRACE_PERIOD: "banana",
        LASTCALL_DRAIN_DELAY: "90s",
        LASTCALL_CLOSE_LAST_PORTS: "ninety",
        LASTCALL_FOREIGN: "perhaps",
        LASTCALL_ADMIN_PORT: "70000",
      },
    });
    assert.equal((await ask(await child.port(), "/")).status, 200);
    for (const wrong of ["banana", "1m30s|90s|drainDelayMs", "ninety", "perhaps", "70000"]) {
      assert.match(child.stderr(), new RegExp(wrong));
    }
    assert.match(child.stderr(), /the defaults are used instead/);
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
    assert.equal(child.record()?.budget.gracePeriodMs, 10_000);
  });

  test("LASTCALL_STRICT=1 refuses to start with an impossible value", async (t) => {
    const child = startAuto(t, "none", { env: { LASTCALL_GRACE_PERIOD: "banana", LASTCALL_STRICT: "1" } });
    assert.equal(await child.ended(), 1);
    assert.equal(child.stdout(), "");
    assert.match(child.stderr(), /banana.*LASTCALL_ENVIRONMENT/);
  });

  test("an admin port in use is a warning, and the app serves", async (t) => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    t.after(() => taken.close());
    const { port } = taken.address() as AddressInfo;
    const child = startAuto(t, "none", { env: { LASTCALL_ADMIN_PORT: String(port) } });
    assert.equal((await ask(await child.port(), "/")).status, 200);
    await child.warned("LASTCALL_ADMIN_PORT");
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
  });
});

suite("G9 auto mode and an explicit lifecycle are one", { concurrency: 2 }, () => {
  test("G9 loaded twice it is one lifecycle with one record", async (t) => {
    const child = startAuto(t, "closeThenExit", {
      nodeArgs: ["--import", AUTO, "--import", `${AUTO}?another-copy`],
    });
    await child.port();
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
    assert.equal(child.stderr().match(/"schema"/g)?.length, 1);
    assert.equal(child.stdout().match(/handler/g)?.length, 1);
  });

  test("G9 an explicit lifecycle made before listen() decides the options", async (t) => {
    const child = start(t, fixture("explicit-app"), {
      args: ["before-listen"],
      nodeArgs: ["--import", AUTO],
    });
    await child.port();
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
    const record = child.record();
    assert.equal(record?.budget.drainDelayMs, 300);
    assert.deepEqual(
      record?.teardown.map(({ name }) => name),
      ["the app's own stop handlers", "database"],
    );
    assert.equal(child.stderr().match(/"schema"/g)?.length, 1);
  });

  test("G8 G9 a handler that asks the lifecycle to stop is through with that", async (t) => {
    const child = start(t, fixture("explicit-app"), {
      args: ["before-listen", "asks-itself"],
      nodeArgs: ["--import", AUTO],
    });
    await child.port();
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
    assert.deepEqual(
      child.record()?.teardown.map(({ name, outcome }) => `${name}: ${outcome}`),
      ["the app's own stop handlers: done", "database: done"],
    );
  });

  test("G9 an explicit lifecycle made after listen() joins auto mode's, and is told what it could not have", async (t) => {
    const child = start(t, fixture("explicit-app"), { args: ["after-listen"], nodeArgs: ["--import", AUTO] });
    await child.port();
    assert.match(child.stderr(), /LASTCALL_OPTIONS_DIFFER/);
    child.process.kill("SIGTERM");
    assert.equal(await child.ended(), 0);
    assert.match(child.stdout(), /database closed/);
    assert.equal(child.stderr().match(/"schema"/g)?.length, 1);
  });
});
