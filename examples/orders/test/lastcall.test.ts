import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import test from "node:test";
import type { ShutdownRecord } from "lastcall";
import { serverFile, startService, type Service } from "./service.ts";

function recordOf(service: Service): ShutdownRecord {
  const line = service
    .stderr()
    .split("\n")
    .find((each) => each.includes('"lastcall.record/1"'));
  assert.ok(line !== undefined, `no record in: ${service.stderr()}`);
  return JSON.parse(line) as ShutdownRecord;
}

/**
 * The listener closes at the gate, after its queue was emptied: whoever comes meanwhile is served, one after the other as fast as
 * the machine is, and one may come in that very moment. Longer than a quarter of a second no crowd keeps the door open.
 */
async function untilRefused(service: Service): Promise<void> {
  const giveUpAt = performance.now() + 5_000;
  while (performance.now() < giveUpAt) {
    try {
      await service.ask("GET", "/work?seconds=0");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ECONNREFUSED") return;
      assert.equal(code, "ECONNRESET");
    }
  }
  assert.fail("the door is still open");
}

test("lastcall: the request in flight is answered, and the events tell the story in order", async (t) => {
  const service = await startService(t, "lastcall");
  assert.deepEqual((await service.ask("GET", "/health")).json, { ok: true });
  assert.deepEqual((await service.ask("GET", "/ready")).json, { ready: true });
  assert.equal((await service.ask("GET", "/ready")).headers["x-lastcall-copy"], "test-copy");
  const answer = service.ask("GET", "/work?seconds=1.5");
  await service.started("/work");
  const ended = service.stop("SIGTERM");
  await service.noted("gate");
  await untilRefused(service);
  assert.equal((await answer).status, 200);
  assert.equal((await ended).code, 0);
  assert.deepEqual(service.eventNames(), [
    "database opened",
    "started",
    "signal",
    "lame duck",
    "gate",
    "drained",
    "teardown begins",
    "database closed",
    "record",
    "exit",
  ]);
  const record = recordOf(service);
  assert.equal(record.outcome, "drained");
  assert.equal(record.requests.unfinished, 0);
});

test("lastcall: through the drain delay it is not ready and still serves", async (t) => {
  const service = await startService(t, "lastcall", ["--drain-delay", "1500ms"]);
  const ended = service.stop("SIGTERM");
  await service.noted("lame duck");
  const ready = await service.ask("GET", "/ready");
  assert.equal(ready.status, 503);
  assert.deepEqual(ready.json, { ready: false });
  assert.equal((await service.ask("GET", "/work?seconds=0")).status, 200);
  assert.equal((await service.ask("GET", "/health")).status, 200);
  const end = await ended;
  assert.equal(end.code, 0);
  assert.ok(end.afterMs >= 1500, `exit after ${end.afterMs} ms`);
});

test("lastcall: mails inside the handler and tracked ones are sent, a bare promise is lost and counted", async (t) => {
  const service = await startService(t, "lastcall");
  await service.ask("POST", "/email/background?tag=background&delay=1");
  await service.ask("POST", "/email/task?tag=task&delay=30");
  await service.ask("POST", "/email/tracked?tag=tracked&delay=1");
  const end = await service.stop("SIGTERM");
  assert.equal(end.code, 0);
  assert.deepEqual(new Set(service.outboxTags()), new Set(["background", "tracked"]));
  assert.equal(service.events().at(-1)?.["unsentMails"], 1);
});

test("lastcall: with boundary response the mail inside the handler is lost", async (t) => {
  const service = await startService(t, "lastcall", ["--boundary", "response"]);
  await service.ask("POST", "/email/background?tag=background&delay=30");
  assert.equal((await service.stop("SIGTERM")).code, 0);
  assert.deepEqual(service.outboxTags(), []);
});

test("lastcall: tracked mails that the deadline meets are aborted or abandoned, and named", async (t) => {
  const service = await startService(t, "lastcall", ["--graceful-timeout", "1s"]);
  await service.ask("POST", "/email/tracked?tag=a&delay=30");
  await service.ask("POST", "/email/tracked?tag=b&delay=30&fate=abandon");
  const end = await service.stop("SIGTERM");
  assert.equal(end.code, 3);
  const { tasks, unfinishedTasks } = recordOf(service);
  assert.equal(tasks.aborted, 1);
  assert.equal(tasks.abandoned, 1);
  assert.deepEqual(unfinishedTasks.map(({ name, fate }) => `${name} ${fate}`).toSorted(), [
    "mail a aborted",
    "mail b abandoned",
  ]);
  assert.deepEqual(service.outboxTags(), []);
  assert.ok(service.eventNames().includes("mail aborted"));
});

test("lastcall: a request that never ends is cut with a clean 503 and named", async (t) => {
  const service = await startService(t, "lastcall", ["--graceful-timeout", "1s"]);
  const stuck = service.ask("GET", "/stuck");
  await service.started("/stuck");
  const end = await service.stop("SIGTERM");
  assert.equal(end.code, 3);
  const answer = await stuck;
  assert.equal(answer.status, 503);
  assert.deepEqual(answer.json, { error: "draining" });
  const { requests, unfinished } = recordOf(service);
  assert.equal(requests.unfinished, 1);
  assert.deepEqual(
    unfinished.map(({ route, cut }) => [route, cut]),
    [["GET /stuck", "503"]],
  );
});

test("lastcall: work on a thread that cannot be cancelled is abandoned, and the record says so", async (t) => {
  const service = await startService(t, "lastcall", ["--graceful-timeout", "1s"]);
  const cut = service.ask("GET", "/sync-work?seconds=20");
  await service.started("/sync-work");
  assert.equal((await service.stop("SIGTERM")).code, 3);
  assert.equal((await cut).status, 503);
  assert.deepEqual(
    recordOf(service).unfinishedTasks.map(({ name, fate }) => [name, fate]),
    [["sync-work 20 s", "abandoned"]],
  );
  assert.ok(!service.eventNames().includes("sync work finished"));
});

test("lastcall: a drain completes when the held request is released behind the gate", async (t) => {
  const service = await startService(t, "lastcall", ["--admission", "respond"]);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  assert.equal((await service.ask("GET", "/ready")).status, 200);
  assert.equal((await service.ask("GET", "/work?seconds=0", undefined, agent)).status, 200);
  const held = service.ask("GET", "/hold");
  await service.started("/hold");
  // Begun before the signal, finished after it: a request of its own would be refused by then.
  const release = http.request({
    host: "127.0.0.1",
    port: service.port,
    method: "POST",
    path: "/release",
    agent: false,
  });
  const released = once(release, "response") as Promise<[http.IncomingMessage]>;
  release.flushHeaders();
  await service.started("/release");

  const ended = service.stop("SIGTERM");
  await service.noted("gate");
  assert.equal((await service.ask("GET", "/ready")).status, 503);
  for (const live of [agent, undefined]) {
    const refused = await service.ask("GET", "/work?seconds=0", undefined, live);
    assert.equal(refused.status, 503);
    assert.deepEqual(refused.json, { error: "draining" });
  }
  release.end();
  const [answer] = await released;
  answer.resume();
  assert.equal(answer.statusCode, 200);
  assert.equal((await held).status, 200);
  assert.equal((await ended).code, 0);
  const { requests, outcome } = recordOf(service);
  assert.equal(outcome, "drained");
  assert.deepEqual([requests.unfinished, requests.refused["503"]], [0, 2]);
});

test("lastcall: a drain expires when the held request is never released", async (t) => {
  const service = await startService(t, "lastcall", ["--graceful-timeout", "1s", "--admission", "respond"]);
  const held = service.ask("GET", "/hold");
  await service.started("/hold");
  assert.equal((await service.stop("SIGTERM")).code, 3);
  assert.notEqual((await held).status, 200);
  assert.equal(recordOf(service).requests.unfinished, 1);
  assert.ok(service.eventNames().includes("deadline expired"));
});

test("lastcall: a stream arrives whole and server-sent events end with a word", async (t) => {
  const service = await startService(t, "lastcall");
  const stream = service.ask("GET", "/stream?chunks=10&interval=0.1");
  const events = service.ask("GET", "/events");
  await service.started("/stream");
  await service.started("/events");
  assert.equal((await service.stop("SIGTERM")).code, 0);
  assert.match((await stream).body, /\nend 10 sha256=[0-9a-f]{64}\n$/);
  assert.match((await events).body, /event: end\ndata: .+\n\n$/);
});

/** What an event source does: reads to the end, and knows the id of the last event. */
async function readEvents(port: number, lastEventId: number, enough: number): Promise<readonly number[]> {
  const request = http.get({
    host: "127.0.0.1",
    port,
    path: "/events?interval=0.02",
    headers: { "last-event-id": String(lastEventId) },
    agent: false,
  });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  let text = "";
  const ids = (): readonly number[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  for await (const chunk of response) {
    text += String(chunk);
    if (ids().length >= enough) break;
  }
  request.destroy();
  return ids();
}

test("lastcall: an event source that reconnects to the other copy with Last-Event-ID misses no event", async (t) => {
  const [leaving, other] = await Promise.all([startService(t, "lastcall"), startService(t, "lastcall")]);
  const first = readEvents(leaving.port, 0, Number.POSITIVE_INFINITY);
  await leaving.started("/events");
  assert.equal((await leaving.stop("SIGTERM")).code, 0);
  const before = await first;
  const after = await readEvents(other.port, before.at(-1) ?? 0, 5);
  const all = [...before, ...after];
  assert.ok(before.length > 0);
  assert.deepEqual(
    all,
    all.map((_, at) => at + 1),
  );
});

test("lastcall: a budget that cannot fit is wrong usage", () => {
  const args = [
    serverFile,
    "--build",
    "lastcall",
    "--port",
    "0",
    "--grace-period",
    "2s",
    "--drain-delay",
    "3s",
  ];
  const child = spawnSync(process.execPath, args, { encoding: "utf8", env: { PATH: process.env["PATH"] } });
  assert.equal(child.status, 2);
  assert.match(child.stderr, /^orders: .*3/);
});
