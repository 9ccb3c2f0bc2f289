// The loop against a router of ours on 127.0.0.1 whose upstream is taken away while it runs.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import type { LagFindings } from "../../src/lag/findings.ts";
import { startProxy, type Proxy } from "../../src/router/proxy.ts";
import { startLastcall, type Running } from "./lastcall.ts";

const servers: Server[] = [];
const proxies: Proxy[] = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  for (const proxy of proxies) {
    proxy.close();
  }
});

async function instance(name: string): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((_req, res) => res.setHeader("x-lastcall-copy", name).end("ok")).listen(
    0,
    "127.0.0.1",
  );
  servers.push(server);
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

async function routed(...ports: readonly number[]): Promise<Proxy> {
  const options = {
    port: 0,
    retries: false,
    upstreamKeepAlive: false,
    clientKeepAlive: false,
    connectTimeoutMs: 1000,
    readTimeoutMs: 2000,
  };
  const proxy = await startProxy(
    options,
    ports.map((port) => ({ copy: String(port), host: "127.0.0.1", port })),
    () => undefined,
  );
  proxies.push(proxy);
  return proxy;
}

const lag = (...args: readonly string[]): Running => startLastcall(["lag", ...args]);

const found = (out: string): LagFindings & { readonly schema: string } =>
  JSON.parse(out) as LagFindings & { readonly schema: string };

test("a closed door behind a router that still lists it is found, timed from the command, and charged to the drain delay", async () => {
  const [a, b] = [await instance("A"), await instance("B")];
  const proxy = await routed(a.port, b.port);
  // The command asks the test to close the door: a request to a port of ours.
  const door = createServer((_req, res) => {
    a.server.close();
    a.server.closeAllConnections();
    setTimeout(() => proxy.set([{ copy: "B", host: "127.0.0.1", port: b.port }]), 1000);
    res.end();
  }).listen(0, "127.0.0.1");
  servers.push(door);
  await once(door, "listening");
  const { port } = door.address() as AddressInfo;
  const { done } = lag(
    `http://127.0.0.1:${proxy.port}/`,
    "--rate",
    "40",
    "--after",
    "3s",
    "--json",
    "--",
    process.execPath,
    "-e",
    `fetch("http://127.0.0.1:${port}/")`,
  );
  const { code, out, err } = await done;
  const seen = found(out);
  assert.equal(code, 1, err);
  // Which of the two a 502 is depends on how fast this process answers, which is the router as well.
  assert.ok(
    seen.losses.some(({ kind }) => kind.startsWith("bad-gateway")),
    out,
  );
  assert.equal(seen.lagIs, "measured");
  // The door stays listed for a second; how long the command takes to begin is in it, too.
  assert.ok((seen.lagMs ?? 0) >= 700, out);
  assert.deepEqual(seen.instances.map(({ name }) => name).toSorted(), ["A", "B"]);
});

test("Ctrl-C prints what was learnt; a loop that saw nothing says so", async () => {
  const a = await instance("A");
  const { child, done } = lag(`http://127.0.0.1:${a.port}/`, "--rate", "50");
  let answered = 0;
  a.server.on("request", () => {
    answered += 1;
    if (answered === 20) {
      child.kill("SIGINT");
    }
  });
  const { code, out } = await done;
  assert.equal(code, 130);
  assert.match(out, /^\d+ requests to http/);
  assert.match(out, /Nothing was seen to restart/);
  const short = await lag(`http://127.0.0.1:${a.port}/`, "--for", "1s").done;
  assert.equal(short.code, 4);
});

test("a URL that nobody serves, or that says no from the start, is refused before anything is stopped", async () => {
  const a = await instance("A");
  const { port } = a;
  a.server.close();
  a.server.closeAllConnections();
  const nobody = await lag(`http://127.0.0.1:${port}/`).done;
  assert.equal(nobody.code, 3);
  assert.match(nobody.err, /failed 3 of 3 times .*ECONNREFUSED[\s\S]*LAB_ROUTE_REFUSED/);
});

test("what is no URL, a rate that would be a load test and a command that does not exist are told so", async () => {
  const wrong = await lag("localhost:8080").done;
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /no URL of a service/);
  const fast = await lag("http://127.0.0.1:1/", "--rate", "5000").done;
  assert.equal(fast.code, 2);
  const a = await instance("A");
  const missing = await lag(`http://127.0.0.1:${a.port}/`, "--", "/nowhere/program").done;
  assert.equal(missing.code, 3);
  assert.match(missing.err, /could not be started/);
});
