import assert from "node:assert/strict";
import http from "node:http";
import test from "node:test";
import { ask, startService } from "./service.ts";

test("bare: SIGTERM cuts the request in flight, which has a START and no FINISH", async (t) => {
  const service = await startService(t, "bare");
  const answer = service.ask("GET", "/work?seconds=20");
  const failed = assert.rejects(answer, { code: "ECONNRESET" });
  await service.started("/work");
  const end = await service.stop("SIGTERM");
  await failed;
  assert.equal(end.signal, "SIGTERM");
  assert.deepEqual(
    service.accessLog().map((line) => line.split(" ")[1]),
    ["START"],
  );
  assert.ok(!service.eventNames().includes("exit"));
});

test("naive: the request in flight is answered, a new connection is refused, the exit code is 0", async (t) => {
  const service = await startService(t, "naive");
  const answer = service.ask("GET", "/work?seconds=1.5");
  await service.started("/work");
  const ended = service.stop("SIGTERM");
  await service.noted("signal");
  await assert.rejects(service.ask("GET", "/ready"), { code: "ECONNREFUSED" });
  assert.equal((await answer).status, 200);
  assert.deepEqual({ ...(await ended), afterMs: 0 }, { code: 0, signal: null, afterMs: 0 });
  assert.deepEqual(service.eventNames(), ["database opened", "started", "signal", "exit"]);
});

test("naive: a request that never ends holds the process", async (t) => {
  const service = await startService(t, "naive");
  const stuck = service.ask("GET", "/stuck");
  const cut = assert.rejects(stuck);
  await service.started("/stuck");
  service.child.kill("SIGTERM");
  await service.noted("signal");
  // Nothing tells that something does not happen; a second is 20 times what its exit takes otherwise.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.equal(service.child.exitCode, null);
  await service.stop("SIGKILL");
  await cut;
});

test("naive: mails of all three kinds are lost when the connections are gone first", async (t) => {
  const service = await startService(t, "naive");
  for (const mode of ["background", "task", "tracked"]) {
    assert.equal((await service.ask("POST", `/email/${mode}?tag=${mode}&delay=3`)).status, 202);
  }
  const end = await service.stop("SIGTERM");
  assert.equal(end.code, 0);
  assert.ok(end.afterMs < 2500, `exit after ${end.afterMs} ms`);
  assert.deepEqual(service.outboxTags(), []);
  assert.equal(service.events().at(-1)?.["unsentMails"], 3);
});

test("orders that were acknowledged are there after SIGKILL, and after a new start", async (t) => {
  const service = await startService(t, "bare");
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  for (let n = 0; n < 20; n += 1) {
    assert.equal((await ask(service.port, "POST", "/orders", { id: `k-${n}`, work: 0 }, agent)).status, 201);
  }
  await service.stop("SIGKILL");
  assert.equal(service.orders().length, 20);
  const next = await startService(t, "bare", ["--db", service.ordersFile]);
  assert.equal((await next.ask("POST", "/orders", { id: "k-3", work: 0 })).status, 409);
  assert.equal((await next.ask("POST", "/orders", { id: "k-20", work: 0 })).status, 201);
});
