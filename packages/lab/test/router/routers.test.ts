// Both routers keep the same promises; nginx's tests are skipped where it is not installed.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { createServer, request } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { LabError } from "../../src/errors.ts";
import { startRunClock } from "../../src/ledger/clock.ts";
import type { EventRecord } from "../../src/ledger/records.ts";
import { startEmbedded } from "../../src/router/embedded.ts";
import { findNginx, startNginx } from "../../src/router/nginx.ts";
import { realNginx } from "../real-parts.ts";
import type { Router, RouterOptions, Upstream } from "../../src/router/router.ts";
import { portFinder } from "../../src/target/free-port.ts";
import { startGuardian } from "../../src/target/guardian.ts";

const guardian = startGuardian();
const clock = startRunClock();
const findPort = portFinder();
const nginx = await realNginx();
const servers: { close(): void }[] = [];
after(() => {
  guardian.close();
  for (const server of servers) {
    server.close();
  }
});

const options = (port = 0): RouterOptions => ({
  port,
  retries: false,
  upstreamKeepAlive: false,
  clientKeepAlive: false,
  folder: mkdtempSync(path.join(tmpdir(), "lastcall-router-")),
});

async function copy(name: string): Promise<Upstream> {
  const server = createServer((_req, res) => void res.end(name));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return { copy: name, host: "127.0.0.1", port: (server.address() as AddressInfo).port };
}

function ask(router: Router): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port: router.port, path: "/?id=42", agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.once("end", () => resolve(answer.statusCode === 200 ? text : String(answer.statusCode)));
    })
      .once("error", reject)
      .end();
  });
}

async function answers(router: Router, count: number): Promise<readonly string[]> {
  const seen = [];
  for (let n = 0; n < count; n += 1) {
    seen.push(await ask(router));
  }
  return [...new Set(seen)].toSorted();
}

const events: EventRecord[] = [];
const starters: Readonly<Record<string, (of: RouterOptions, first: readonly Upstream[]) => Promise<Router>>> =
  {
    embedded: (of, first) => startEmbedded(of, first, { clock }),
    ...(nginx === null
      ? {}
      : {
          nginx: (of, first) =>
            startNginx(nginx, of, first, {
              clock,
              guardian,
              findPort,
              emit: (event) => void events.push(event),
            }),
        }),
  };

for (const [name, start] of Object.entries(starters)) {
  test(`${name}: when set() has resolved, no new connection meets a removed copy`, async () => {
    const [a, b] = [await copy("A"), await copy("B")];
    const router = await start(options(), [a, b]);
    try {
      assert.equal(router.name, name);
      assert.deepEqual(await answers(router, 4), ["A", "B"]);
      await router.set([b]);
      assert.deepEqual(await answers(router, 20), ["B"]);
      await Promise.all([router.set([a, b]), router.set([a])]);
      assert.deepEqual(await answers(router, 20), ["A"]);
      await router.set([]);
      assert.deepEqual(await answers(router, 2), ["502"]);
    } finally {
      await router.stop();
    }
  });

  test(`${name}: a refused connection is a 502 and is found in its log, at its time`, async () => {
    const router = await start(options(), [{ copy: "A", host: "127.0.0.1", port: await findPort() }]);
    try {
      const before = clock.now();
      assert.equal(await ask(router), "502");
      const log = await router.log();
      assert.deepEqual(
        log.map((line) => line.class),
        ["connect-refused"],
      );
      assert.match(log[0]?.text ?? "", /id=42/);
      const atMs = log[0]?.atMs ?? Number.NaN;
      assert.ok(atMs >= before - 150 && atMs <= clock.now() + 150, `${before} ${atMs} ${clock.now()}`);
    } finally {
      await router.stop();
    }
  });

  test(`${name}: stopped, it answers nobody`, async () => {
    const router = await start(options(), [await copy("A")]);
    await router.stop();
    await assert.rejects(ask(router), /ECONNREFUSED/);
  });

  test(`${name}: a port in use is told in its own words`, async () => {
    const taken = createTcpServer();
    await new Promise<void>((resolve) => void taken.listen(0, "127.0.0.1", resolve));
    servers.push(taken);
    const { port } = taken.address() as AddressInfo;
    await assert.rejects(start(options(port), []), (error) => {
      assert.ok(error instanceof LabError, String(error));
      assert.equal(error.code, "LAB_ROUTER_FAILED");
      assert.match(error.message, /[Aa]ddress already in use/);
      return true;
    });
  });
}

test("each reload of nginx is told as an event", { skip: nginx === null }, () => {
  const reloads = events.filter((event) => event.event === "reloaded");
  assert.deepEqual(
    reloads.map((event) => event.detail["upstreams"]),
    ["B", "A B", "A", ""],
  );
});

test("nginx is looked for at the place that LASTCALL_NGINX names, and nowhere else", async () => {
  assert.equal(await findNginx({ PATH: process.env["PATH"], LASTCALL_NGINX: "/nowhere/nginx" }), null);
});
