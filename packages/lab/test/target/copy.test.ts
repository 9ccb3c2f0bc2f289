import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LabError } from "../../src/errors.ts";
import { startRunClock } from "../../src/ledger/clock.ts";
import type { EventRecord } from "../../src/ledger/records.ts";
import { describeExit, fillCommand, startCopy, type Copy, type CopySpec } from "../../src/target/copy.ts";
import { lastWords } from "../../src/target/last-words.ts";
import { portFinder } from "../../src/target/free-port.ts";
import { startGuardian } from "../../src/target/guardian.ts";
import { makeFolder } from "../folder.ts";

const SERVES = fileURLToPath(new URL("../fixtures/serves.js", import.meta.url));
const folder = makeFolder("copy");
const guardian = startGuardian();
const findPort = portFinder();
after(() => guardian.close());

interface Started {
  readonly copy: Copy;
  readonly events: EventRecord[];
}

async function start(
  spec: Partial<CopySpec> & { readonly fixtureEnv?: Record<string, string> },
): Promise<Started> {
  const events: EventRecord[] = [];
  const { fixtureEnv, ...rest } = spec;
  const copy = await startCopy(
    {
      name: "A",
      command: [process.execPath, SERVES],
      env: { ...process.env, ...fixtureEnv },
      cwd: folder,
      port: await findPort(),
      readyPath: "/ready",
      readyTimeoutMs: 20_000,
      livePath: null,
      outputFile: path.join(folder, "out.log"),
      ...rest,
    },
    { clock: startRunClock(), guardian, emit: (event) => void events.push(event) },
  );
  return { copy, events };
}

/** Without `not-ready`: a probe may or may not meet a process that is about to end. */
const names = (events: readonly EventRecord[]): readonly string[] =>
  events.map((event) => event.event).filter((name) => name !== "not-ready");

test("a command's places are filled in, and unknown ones stay as they are", () => {
  assert.deepEqual(fillCommand(["x", "--port={port}", "{copy}{other}"], { port: "9", copy: "A" }), [
    "x",
    "--port=9",
    "A{other}",
  ]);
});

test("an exit is told as its code or its signal", () => {
  assert.equal(describeExit({ code: 7, signal: null }), "exit code 7");
  assert.equal(describeExit({ code: null, signal: "SIGKILL" }), "SIGKILL");
});

test("a copy's life is told in order: started, ready, signal, exited with its code; its words are kept", async () => {
  const { copy, events } = await start({});
  await copy.ready();
  const exit = await copy.stop("SIGTERM", 20_000);
  assert.deepEqual([exit.code, exit.signal], [7, null]);
  assert.deepEqual(names(events), ["started", "ready", "signal", "exited"]);
  assert.deepEqual(events[0]?.detail, { pid: copy.pid, port: copy.port });
  assert.deepEqual(events.at(-1)?.detail, { code: 7, signal: null, asked: true });
  await copy.end();
  assert.match(readFileSync(path.join(folder, "out.log"), "utf8"), /serving\ntold to stop/);
});

test("readiness that turns after the signal is seen", async () => {
  const { copy, events } = await start({ fixtureEnv: { NOT_READY_ON_TERM: "1", DELAY_MS: "1000" } });
  await copy.ready();
  await copy.stop("SIGTERM", 20_000);
  const seen = events.find((event) => event.event === "not-ready");
  assert.deepEqual(seen?.detail, { seen: 503 });
});

test("a copy that ignores the signal is killed when its grace period is over", async () => {
  const { copy, events } = await start({ fixtureEnv: { IGNORE_TERM: "1" } });
  await copy.ready();
  const exit = await copy.stop("SIGTERM", 300);
  assert.equal(exit.signal, "SIGKILL");
  assert.deepEqual(names(events), ["started", "ready", "signal", "killed", "exited"]);
});

test("SIGKILL as the stop signal is no patience that ran out", async () => {
  const { copy, events } = await start({});
  await copy.ready();
  await copy.stop("SIGKILL", 20_000);
  assert.deepEqual(names(events), ["started", "ready", "signal", "exited"]);
});

test("a copy that ends by itself says so, and stopping it is done", async () => {
  const { copy, events } = await start({ command: [process.execPath, "-e", "process.exit(4)"] });
  await copy.exited;
  assert.equal((await copy.stop("SIGTERM", 1000)).code, 4);
  assert.deepEqual(events.at(-1)?.detail, { code: 4, signal: null, asked: false });
});

async function refusal(spec: Parameters<typeof start>[0]): Promise<LabError> {
  let copy: Copy | null = null;
  try {
    copy = (await start(spec)).copy;
    await copy.ready();
  } catch (error) {
    assert.ok(error instanceof LabError, String(error));
    return error;
  } finally {
    await copy?.end();
  }
  return assert.fail("it was ready");
}

test("a program that does not exist is named", async () => {
  const error = await refusal({ command: ["/nowhere/program"] });
  assert.equal(error.code, "LAB_TARGET_NOT_STARTED");
  assert.match(error.message, /'\/nowhere\/program' could not be started/);
});

test("a copy that dies at its start is named with its code and last lines", async () => {
  const error = await refusal({
    command: [process.execPath, "-e", "console.error('no database'); process.exit(3)"],
  });
  assert.equal(error.code, "LAB_TARGET_DIED");
  assert.match(error.message, /Copy A ended before it was ready \(exit code 3\)/);
  assert.match(error.message, /no database/);
});

test("a copy whose port is in use is told where its port comes from", async () => {
  const other = createServer((socket) => void socket.destroy());
  await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
  const error = await refusal({ port: (other.address() as AddressInfo).port });
  other.close();
  assert.equal(error.code, "LAB_TARGET_DIED");
  assert.match(error.message, /EADDRINUSE/);
  assert.match(error.next, /PORT in its environment, or \{port\}/);
});

test("a copy that never becomes ready is given up with what its readiness said", async () => {
  const listening = await refusal({
    fixtureEnv: { PORT: "0" },
    readyPath: "/ready",
    readyTimeoutMs: 700,
    command: [process.execPath, "-e", "setInterval(() => {}, 1000)"],
  });
  assert.equal(listening.code, "LAB_TARGET_NOT_READY");
  assert.match(
    listening.message,
    /not ready within 0\.7 s: GET http:\/\/127\.0\.0\.1:\d+\/ready gave ECONNREFUSED/,
  );
  assert.match(listening.message, /printed nothing/);
  assert.match(listening.next, /--ready-timeout/);
});

test("a copy whose readiness is at another of the usual paths is given up with that path", async () => {
  const serves =
    'require("node:http").createServer((q, r) => r.writeHead(q.url === "/readyz" ? 200 : 404).end()).listen(process.env.PORT, "127.0.0.1")';
  const { code, message, next } = await refusal({
    readyPath: "/ready",
    readyTimeoutMs: 2000,
    command: [process.execPath, "-e", serves],
  });
  assert.equal(code, "LAB_TARGET_NOT_READY");
  assert.match(message, /\/ready gave 404/);
  assert.match(next, /\/readyz answers 200: --ready \/readyz/);
});

test(
  "a copy that listens elsewhere than it was told is given up with where it listens",
  { skip: process.platform === "linux" ? false : "read from /proc" },
  async () => {
    const given = await findPort();
    const serves = (where: string): string =>
      `require("node:http").createServer((q, r) => r.end()).listen(${where})`;
    const elsewhere = await refusal({
      port: given,
      readyTimeoutMs: 2000,
      command: [process.execPath, "-e", serves('0, "127.0.0.1"')],
    });
    assert.match(elsewhere.message, new RegExp(`It listens on port \\d+, not on ${given}, which PORT`));
    assert.match(elsewhere.next, /Let it listen on PORT/);
    const version6 = await refusal({
      port: given,
      readyTimeoutMs: 2000,
      command: [process.execPath, "-e", serves('process.env.PORT, "::1"')],
    });
    // Where there is no IPv6 it ends instead.
    if (version6.code === "LAB_TARGET_NOT_READY") {
      assert.match(version6.message, new RegExp(`It listens on port ${given}, but not on 127\\.0\\.0\\.1`));
    }
  },
);

test("a copy that puts itself into the background is told to stay in the foreground", async () => {
  const error = await refusal({ command: ["/bin/sh", "-c", "exit 0"] });
  assert.equal(error.code, "LAB_TARGET_DIED");
  assert.match(error.next, /ends with 0 .* keep it in the foreground/);
});

test("of what a copy printed last, the telling lines are quoted, without colours", () => {
  const npm = [
    'npm error Missing script: "start"',
    ...Array.from({ length: 9 }, () => "npm error"),
    "npm error A complete log of this run can be found in: x",
  ];
  assert.equal(lastWords(npm), ' Its last lines:\n    npm error Missing script: "start"');
  assert.equal(
    lastWords(["\u001B[31mno database\u001B[0m", "    at file.js:1:1", ""]),
    " Its last lines:\n    no database",
  );
});
