import assert from "node:assert/strict";
import { test } from "node:test";
import type { CopyEvents, HeldSocket } from "../../src/takeover/copy.ts";
import { TakeoverParent, type ReloadResult } from "../../src/takeover/parent.ts";
import { FakeHost } from "../../src/testing.ts";

/** A copy without a process: what it is told is noted, and the test says what becomes of it. */
interface FakeCopy {
  readonly sockets: readonly HeldSocket[];
  readonly events: CopyEvents;
  readonly told: string[];
}

function takeover(sockets: readonly HeldSocket[] = []): {
  readonly host: FakeHost;
  readonly parent: TakeoverParent;
  readonly copies: readonly FakeCopy[];
  readonly exits: readonly number[];
} {
  const host = new FakeHost();
  const copies: FakeCopy[] = [];
  const exits: number[] = [];
  const parent = new TakeoverParent(host, {
    gracePeriodMs: 8000,
    readyTimeoutMs: 3000,
    sockets,
    start(given, events) {
      const told: string[] = [];
      copies.push({ sockets: given, events, told });
      return {
        pid: 100 + copies.length,
        signal: (signal) => void told.push(signal),
        leave: () => void told.push("leave"),
        drop: (dropped) => void told.push(`drop ${dropped.map(({ port }) => port).join()}`),
      };
    },
    ended: (exitCode) => void exits.push(exitCode),
  });
  parent.start();
  return { host, parent, copies, exits };
}

function socket(port: number, log: string[] = [], activated = false): HeldSocket {
  const close = (): void => void log.push(`close ${port}`);
  const forget = (): void => void log.push(`forget ${port}`);
  return { fd: 20, name: "", port, host: null, path: null, activated, close, forget };
}

const ended = (copy: FakeCopy | undefined, code: number | null, signal: NodeJS.Signals | null = null): void =>
  copy?.events.ended({ code, signal });

async function resultOf(reload: Promise<ReloadResult>, host: FakeHost): Promise<ReloadResult | "pending"> {
  await host.settle();
  return Promise.race([reload, Promise.resolve("pending" as const)]);
}

test("the old copy is told to leave when the new one is ready, not before", async () => {
  const { host, parent, copies } = takeover();
  copies[0]?.events.ready(5000);
  const reload = parent.reload();
  assert.deepEqual(copies[0]?.told, []);
  assert.equal(await resultOf(reload, host), "pending");
  copies[1]?.events.ready(5000);
  assert.deepEqual(copies[0]?.told, ["leave"]);
  assert.equal(await resultOf(reload, host), "replaced");
});

test("a copy that does not leave is killed when the grace period that it has itself is over", async () => {
  const { host, parent, copies } = takeover();
  copies[0]?.events.ready(5000);
  void parent.reload();
  copies[1]?.events.ready(5000);
  await host.advance(4999);
  assert.deepEqual(copies[0]?.told, ["leave"]);
  await host.advance(1);
  assert.deepEqual(copies[0]?.told, ["leave", "SIGKILL"]);
});

test("a copy that does not become ready is stopped, then killed, and the old one goes on", async () => {
  const { host, parent, copies, exits } = takeover();
  copies[0]?.events.ready(null);
  const reload = parent.reload();
  await host.advance(3000);
  assert.equal(await resultOf(reload, host), "kept");
  assert.deepEqual(copies[1]?.told, ["SIGTERM"]);
  copies[1]?.events.ready(null);
  assert.deepEqual(copies[0]?.told, [], "too late to take over");
  await host.advance(8000);
  assert.deepEqual(copies[1]?.told, ["SIGTERM", "SIGKILL"]);
  assert.deepEqual([copies[0]?.told, exits], [[], []]);
});

test("while a new copy comes, the end of the serving one is no end: its exit code counts when the new one fails too", async () => {
  const lives = takeover();
  lives.copies[0]?.events.ready(null);
  void lives.parent.reload();
  ended(lives.copies[0], null, "SIGKILL");
  assert.deepEqual(lives.exits, []);
  lives.copies[1]?.events.ready(null);
  lives.parent.stop("SIGTERM");
  ended(lives.copies[1], 0);
  assert.deepEqual(lives.exits, [0]);

  const dies = takeover();
  dies.copies[0]?.events.ready(null);
  const reload = dies.parent.reload();
  ended(dies.copies[0], 7);
  ended(dies.copies[1], 5);
  assert.deepEqual(dies.exits, [5]);
  assert.equal(await resultOf(reload, dies.host), "stopping");
});

test("E3 a serving copy that ends by a signal is 128 and its number", () => {
  const { copies, exits } = takeover();
  copies[0]?.events.ready(null);
  ended(copies[0], null, "SIGKILL");
  assert.deepEqual(exits, [137]);
});

test("A7 every stop signal goes to every copy, and the sockets are let go with the first", () => {
  const log: string[] = [];
  const { parent, copies, exits } = takeover();
  copies[0]?.events.listens(socket(80, log), null);
  copies[0]?.events.ready(null);
  void parent.reload();
  copies[1]?.events.ready(null);
  parent.stop("SIGTERM");
  parent.stop("SIGINT");
  assert.deepEqual(copies[0]?.told, ["leave", "SIGTERM", "SIGINT"]);
  assert.deepEqual(copies[1]?.told, ["SIGTERM", "SIGINT"]);
  assert.deepEqual(log, ["close 80"]);
  ended(copies[1], 3);
  assert.deepEqual(exits, [], "the old one drains still");
  ended(copies[0], 0);
  assert.deepEqual(exits, [3], "the serving copy's");
  assert.deepEqual(log, ["close 80", "forget 80"]);
});

test("a new copy gets every socket that is held; what it does not use is closed when the old one has left", () => {
  const log: string[] = [];
  const { parent, copies } = takeover([socket(443, log, true)]);
  copies[0]?.events.listens(socket(80, log), null);
  copies[0]?.events.listens(socket(81, log), null);
  copies[0]?.events.ready(null);
  void parent.reload();
  const given = copies[1]?.sockets ?? [];
  assert.deepEqual(
    given.map(({ port }) => port),
    [443, 80, 81],
  );
  const handedUp: string[] = [];
  copies[1]?.events.listens(socket(80, handedUp), given[1] ?? null);
  assert.deepEqual(handedUp, ["close 80"], "held already");
  copies[1]?.events.ready(null);
  assert.deepEqual(log, []);
  ended(copies[0], 0);
  assert.deepEqual(log, ["close 81"]);
  assert.deepEqual(copies[1]?.told, ["drop 81"], "systemd's stays");
});

test("a socket that was closed before a slow copy asked for it is taken up again", () => {
  const { parent, copies } = takeover();
  copies[0]?.events.listens(socket(80), null);
  copies[0]?.events.ready(null);
  void parent.reload();
  const given = copies[1]?.sockets[0] ?? null;
  copies[1]?.events.ready(null);
  ended(copies[0], 0);
  copies[1]?.events.listens(socket(80), given);
  void parent.reload();
  assert.equal(copies[2]?.sockets.length, 1);
});

test("reloads that are asked for meanwhile are one more, and none follows a stop", async () => {
  const { host, parent, copies } = takeover();
  copies[0]?.events.ready(null);
  const results = [parent.reload(), parent.reload(), parent.reload()];
  assert.equal(copies.length, 2);
  copies[1]?.events.ready(null);
  assert.equal(copies.length, 3);
  copies[2]?.events.ready(null);
  await host.settle();
  assert.deepEqual(await Promise.all(results), ["replaced", "replaced", "replaced"]);
  const late = [parent.reload(), parent.reload()];
  parent.stop("SIGTERM");
  assert.deepEqual(await Promise.all([...late, parent.reload()]), ["stopping", "stopping", "stopping"]);
});

test("G6 systemd hears of the parent: ready, reloading, ready again, stopping", () => {
  const { host, parent, copies } = takeover();
  copies[0]?.events.ready(null);
  void parent.reload();
  ended(copies[1], 5);
  parent.stop("SIGTERM");
  assert.deepEqual(
    host.toldSystemd.filter((one) => !one.startsWith("STATUS")),
    ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1", "EXTEND_TIMEOUT_USEC=8000000"],
  );
});
