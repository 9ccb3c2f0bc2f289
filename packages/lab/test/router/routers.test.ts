// All routers keep the same promises; those that are not installed are skipped.
import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { after, test } from "node:test";
import { LabError } from "../../src/errors.ts";
import { startRunClock } from "../../src/ledger/clock.ts";
import type { EventRecord } from "../../src/ledger/records.ts";
import { findRouter } from "../../src/router/find.ts";
import type { FoundRouter, Router, RouterOptions, Upstream } from "../../src/router/router.ts";
import { startRouter } from "../../src/router/start.ts";
import { realRouter } from "../real-parts.ts";
import { portFinder } from "../../src/target/free-port.ts";
import { startGuardian } from "../../src/target/guardian.ts";
import { PLAIN } from "./behaviour.ts";
import { makeFolder } from "../folder.ts";

const guardian = startGuardian();
const clock = startRunClock();
const findPort = portFinder();
const installed = await Promise.all([realRouter("nginx"), realRouter("haproxy"), realRouter("caddy")]);
const nginx = installed[0];
const servers: { close(): void }[] = [];
after(() => {
  guardian.close();
  for (const server of servers) {
    server.close();
  }
});

const options = (port = 0): RouterOptions => ({
  ...PLAIN,
  port,
  folder: makeFolder("router"),
});

async function copy(name: string): Promise<Upstream> {
  const server = createServer((_req, res) => void res.end(name));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return { copy: name, host: "127.0.0.1", port: (server.address() as AddressInfo).port };
}

function ask(router: Router, id = "", method = "GET"): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = id === "" ? {} : { "x-request-id": id };
    const to = { host: "127.0.0.1", port: router.port, path: "/?id=42", agent: false, method, headers };
    request(to, (answer) => {
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
const start = (found: FoundRouter | null, of: RouterOptions, first: readonly Upstream[]): Promise<Router> =>
  startRouter(found, of, first, { clock, guardian, findPort, emit: (event) => void events.push(event) });

/** HAProxy calls a copy that it cannot reach 503; the others a bad gateway. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  embedded: "502",
  nginx: "502",
  haproxy: "503",
  caddy: "502",
};

for (const found of [null, ...installed.filter((one) => one !== null)]) {
  const name = found?.name ?? "embedded";
  const unreachable = UNREACHABLE[name] ?? "";
  test(`${name}: when set() has resolved, no new connection meets a removed copy`, async () => {
    const [a, b] = [await copy("A"), await copy("B")];
    const router = await start(found, options(), [a, b]);
    try {
      assert.equal(router.name, name);
      assert.deepEqual(await answers(router, 4), ["A", "B"]);
      await router.set([b]);
      assert.deepEqual(await answers(router, 20), ["B"]);
      await Promise.all([router.set([a, b]), router.set([a])]);
      assert.deepEqual(await answers(router, 20), ["A"]);
      await router.set([]);
      assert.deepEqual(await answers(router, 2), [unreachable]);
    } finally {
      await router.stop();
    }
  });

  test(`${name}: a refused connection is a ${unreachable} and is found in its log, at its time`, async () => {
    const router = await start(found, options(), [{ copy: "A", host: "127.0.0.1", port: await findPort() }]);
    try {
      const before = clock.now();
      assert.equal(await ask(router), unreachable);
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

  if (name !== "embedded") {
    test(`${name}: its access log has a line for each request id that is asked for, with whom it asked`, async () => {
      const a = await copy("A");
      const router = await start(found, options(), [a]);
      try {
        await ask(router, "r1-000001");
        await ask(router, "r1-000002");
        await ask(router, "r1-000003");
        await ask(router);
        const lines = await router.accessLog((id) => id !== "r1-000003");
        assert.deepEqual([...(lines?.keys() ?? [])].toSorted(), ["r1-000001", "r1-000002"]);
        const line = lines?.get("r1-000002");
        assert.equal(line?.status, 200);
        assert.deepEqual(
          line.tries.map((one) => one.address),
          [`127.0.0.1:${a.port}`],
        );
        assert.ok(Math.abs(line.atMs - clock.now()) < 5000, String(line.atMs));
      } finally {
        await router.stop();
      }
    });
  }

  test(`${name}: with retries a closed door costs nobody an answer, and POSTs are asked again too`, async () => {
    const b = await copy("B");
    const dead = { copy: "A", host: "127.0.0.1", port: await findPort() };
    const router = await start(found, { ...options(), retries: true }, [dead, b]);
    try {
      assert.deepEqual(await answers(router, 6), ["B"]);
      for (let n = 0; n < 4; n += 1) {
        assert.equal(await ask(router, "", "POST"), "B");
      }
    } finally {
      await router.stop();
    }
  });

  for (const retryPosts of [false, true]) {
    const fate = retryPosts ? "is asked again where that is wanted" : "is not asked again";
    test(`${name}: with retries a POST that was sent and cut ${fate}`, async () => {
      let cuts = 0;
      const cutting = createServer((req) => {
        cuts += 1;
        req.socket.destroy();
      });
      await new Promise<void>((resolve) => void cutting.listen(0, "127.0.0.1", resolve));
      servers.push(cutting);
      const a = { copy: "A", host: "127.0.0.1", port: (cutting.address() as AddressInfo).port };
      const router = await start(found, { ...options(), retries: true, retryPosts }, [a, await copy("B")]);
      try {
        const seen = new Set<string>();
        for (let n = 0; n < 6; n += 1) {
          seen.add(await ask(router, "", "POST"));
        }
        assert.ok(cuts > 0);
        assert.deepEqual([...seen].toSorted(), retryPosts ? ["B"] : ["502", "B"]);
      } finally {
        await router.stop();
      }
    });
  }

  test(`${name}: the answer's header names the copy that was asked`, async () => {
    const a = await copy("A");
    const router = await start(found, options(), [a]);
    try {
      const answer = await fetch(`http://127.0.0.1:${router.port}/`);
      await answer.text();
      assert.match(
        answer.headers.get("x-lastcall-upstream") ?? "",
        new RegExp(`^127\\.0\\.0\\.1:${a.port}\\|`),
      );
    } finally {
      await router.stop();
    }
  });

  test(`${name}: stopped, it answers nobody`, async () => {
    const router = await start(found, options(), [await copy("A")]);
    await router.stop();
    await assert.rejects(ask(router), /ECONNREFUSED/);
  });

  test(`${name}: a port in use is told in its own words`, async () => {
    const taken = createTcpServer();
    await new Promise<void>((resolve) => void taken.listen(0, "127.0.0.1", resolve));
    servers.push(taken);
    const { port } = taken.address() as AddressInfo;
    await assert.rejects(start(found, options(port), []), (error) => {
      assert.ok(error instanceof LabError, String(error));
      assert.equal(error.code, "LAB_ROUTER_FAILED");
      assert.match(error.message, /[Aa]ddress already in use/);
      return true;
    });
  });
}

test("every router listens outside the range of outgoing connections, of which a load may leave none", async () => {
  for (const found of [null, ...installed.filter((one) => one !== null)]) {
    const given = await findPort();
    const around = { clock, guardian, emit: () => undefined, findPort: () => Promise.resolve(given) };
    const router = await startRouter(found, options(), [], around);
    try {
      assert.equal(router.port, given, router.version);
    } finally {
      await router.stop();
    }
  }
});

test("each reload of nginx is told as an event", { skip: nginx === null }, () => {
  const reloads = events.filter((event) => event.event === "reloaded").slice(0, 4);
  assert.deepEqual(
    reloads.map((event) => event.detail["upstreams"]),
    ["B", "A B", "A", ""],
  );
});

test("nginx is looked for at the place that LASTCALL_NGINX names, and nowhere else", async () => {
  const env = { PATH: process.env["PATH"], LASTCALL_NGINX: "/nowhere/nginx" };
  assert.equal(await findRouter("nginx", env), null);
});
