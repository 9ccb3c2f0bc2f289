import assert from "node:assert/strict";
import { existsSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { createServer, Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { closeListener, socketFile } from "../../src/servers/listener.ts";
import { FakeHost } from "../../src/testing.ts";

/** A listener that is none: what it is told is noted. */
function listener(): { readonly server: Server; readonly told: string[] } {
  const told: string[] = [];
  class TCP {
    listen(backlog: number): number {
      told.push(`backlog ${backlog}`);
      return 0;
    }
    close(): void {
      told.push("closed");
    }
  }
  return { server: Object.assign(new Server(), { _handle: new TCP() }), told };
}

test("A8 the backlog is shrunk and left to empty before the listener closes", async () => {
  const host = new FakeHost();
  const { server, told } = listener();
  const closed = closeListener(host, server, null, () => 0);
  await host.settle();
  assert.deepEqual(told, ["backlog 0"]);
  await host.advance(500);
  await closed;
  assert.deepEqual(told, ["backlog 0", "closed"]);
});

test("A8 as long as connections come from the queue it is not closed, and it is closed in the end whoever comes", async () => {
  const host = new FakeHost();
  const { server, told } = listener();
  let accepted = 0;
  const closed = closeListener(host, server, null, () => accepted);
  for (let step = 0; step < 8; step += 1) {
    accepted += 1;
    await host.advance(10);
    assert.deepEqual(told, ["backlog 0"], `after ${host.now()} ms`);
  }
  for (let step = 0; step < 100; step += 1) {
    accepted += 1;
    await host.advance(10);
  }
  await closed;
  assert.deepEqual(told, ["backlog 0", "closed"]);
});

test("A8 turns of the loop that still bring connections are followed by another turn, at the beginning and at the end", async () => {
  const host = new FakeHost();
  const turns: (() => void)[] = [];
  host.afterPoll = (run) => void turns.push(run);
  const { server, told } = listener();
  let accepted = 0;
  const closed = closeListener(host, server, null, () => accepted);
  const turn = async (come: number): Promise<void> => {
    accepted += come;
    turns.shift()?.();
    await host.settle();
    assert.deepEqual(told, ["backlog 0"]);
  };
  // A queue that has filled behind a stalled loop: one of them a turn, in whatever time that takes.
  for (let waiting = 0; waiting < 300; waiting += 1) {
    await turn(1);
    await host.advance(10);
    assert.equal(turns.length, 1, "no time passes without a turn");
  }
  await turn(0);
  // Nobody comes for 20 ms, each of whose steps ends with a turn.
  for (let step = 0; step < 4; step += 1) {
    await host.advance(5);
    await turn(0);
  }
  for (let late = 0; late < 3; late += 1) await turn(1);
  turns.shift()?.();
  await closed;
  assert.deepEqual(told, ["backlog 0", "closed"]);
});

test("C1 a queue that fills as fast as it is emptied is closed in time for what has come to be finished", async () => {
  const host = new FakeHost();
  const turns: (() => void)[] = [];
  host.afterPoll = (run) => void turns.push(run);
  const { server, told } = listener();
  let accepted = 0;
  const closed = closeListener(host, server, null, () => accepted, 2000);
  for (let busy = 0; busy < 200 && told.length < 2; busy += 1) {
    accepted += 1;
    await host.advance(20);
    turns.splice(0).forEach((turn) => turn());
    await host.settle();
  }
  await closed;
  assert.deepEqual(told, ["backlog 0", "closed"]);
  assert.ok(host.now() >= 2000 && host.now() <= 2200, `closed after ${host.now()} ms`);
});

test("A5 in a cluster worker the listener counts as closed when it is, and the process waits for what the primary hands on", async () => {
  const host = new FakeHost({ facts: { clusterWorker: true } });
  const told: string[] = [];
  const server = Object.assign(new Server(), { _handle: { close: () => told.push("closed") } });
  const { settled } = await closeListener(host, server, null, () => 0);
  assert.deepEqual(told, ["closed"]);
  void settled.then(() => told.push("settled"));
  await host.advance(240);
  assert.deepEqual(told, ["closed"]);
  await host.advance(10);
  assert.deepEqual(told, ["closed", "settled"]);
});

test("G5 the queue of a socket that a supervisor keeps open is left alone", async () => {
  const host = new FakeHost();
  const { server, told } = listener();
  Object.assign(server, { _connectionKey: "null:null:-1" });
  await closeListener(host, server, null, () => host.now());
  assert.deepEqual(told, ["closed"]);
});

test("G5 the file of a unix socket goes with its listener, unless the next copy has put its own there", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "lastcall-socket-"));
  const file = path.join(folder, "app.sock");
  const listening = async (at: string): Promise<Server> => {
    const server = createServer();
    server.listen(at);
    await once(server, "listening");
    return server;
  };
  try {
    const host = new FakeHost();
    const alone = await listening(file);
    await closeListener(host, alone, socketFile(alone), () => 0);
    await host.settle();
    assert.equal(existsSync(file), false);

    const old = await listening(file);
    const ours = socketFile(old);
    const next = await listening(`${file}.next`);
    renameSync(`${file}.next`, file);
    const inode = statSync(file).ino;
    await closeListener(host, old, ours, () => 0);
    await host.settle();
    assert.equal(statSync(file).ino, inode);
    next.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
