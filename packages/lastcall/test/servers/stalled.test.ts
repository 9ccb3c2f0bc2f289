/** A loop that stands still over the gate and the end of the linger window finds everything at once: nobody is reset for that. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { ask, fixture, start } from "../child.ts";
import { dial, httpServer, rig } from "./rig.ts";

const ASK = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

function stall(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("A5 a request that came within the linger window is served, though the loop has read it only when the window was over", async () => {
  const server = httpServer("plain", (_, response) => response.end("ok"));
  const { port, stop, record } = await rig(server, { lingerMs: 1000 });
  const client = await dial(port);
  client.send(ASK);
  await client.until(/ok$/);
  stop();
  // Closed, it reads nothing on its own account before the window is over.
  while (server.listening) {
    await pause(5);
  }
  // From here the loop goes to its timers first, of which that of the window is overdue, and then to what there is to read.
  setImmediate(() => {
    client.send(ASK);
    stall(1200);
  });
  await client.ended;
  assert.equal(client.text().match(/200 OK/g)?.length, 2, client.text());
  assert.equal((await record).requests.refused["503"], 0);
});

/** Node accepts one connection a turn: a gate that closed some time after the stall would reset most of them. */
const WAITING = 300;
const POOLED = 20;

/** Resolves when it is connected, with what will be its answer's first line, or its error. */
async function request(port: number): Promise<{ readonly answer: Promise<string> }> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => {
    text += part;
  });
  const ended = once(socket, "end").then(() => text.slice(0, text.indexOf("\r\n")));
  return { answer: ended.catch((error: NodeJS.ErrnoException) => error.code ?? error.message) };
}

test("A8 connections that wait behind a stalled loop at the gate are all served, and so are pooled ones (A5)", async (t) => {
  const child = start(t, fixture("stalled"), { stdin: true });
  const port = await child.port();
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const pooled = async (): Promise<readonly unknown[]> => {
    const answers = Array.from({ length: POOLED }, () => ask(port, "/", agent));
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  await pooled();
  child.process.kill("SIGTERM");
  await child.warned("SIGTERM: not ready");
  const stalled = ask(port, "/stall");
  await child.said("stalled");
  const next = pooled();
  const waiting = await Promise.all(Array.from({ length: WAITING }, () => request(port)));
  // Until the gate is overdue.
  await pause(1600);
  child.process.stdin?.write("!");
  const answers = await Promise.all(waiting.map(({ answer }) => answer));
  assert.deepEqual(
    answers.filter((answer) => answer !== "HTTP/1.1 200 OK"),
    [],
  );
  assert.deepEqual(new Set(await next), new Set([200]));
  assert.equal((await stalled).status, 200);
  assert.equal(await child.ended(), 0);
  const { requests } = child.record() ?? {};
  assert.equal(requests?.accepted, WAITING + 2 * POOLED + 1);
  assert.equal(requests?.completed, requests?.accepted);
});
