// WebSockets and HTTP/2 through the real routers and the embedded one: what is passed on, and what a router cannot do.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { LabError } from "../../src/errors.ts";
import { startRunClock } from "../../src/ledger/clock.ts";
import type { RequestRecord } from "../../src/ledger/records.ts";
import type { RequestTemplate } from "../../src/load/load.ts";
import { assertCan, type RouterBehaviour, type RouterName } from "../../src/router/options.ts";
import type { FoundRouter, Router, Upstream } from "../../src/router/router.ts";
import { startRouter } from "../../src/router/start.ts";
import { portFinder } from "../../src/target/free-port.ts";
import { startGuardian } from "../../src/target/guardian.ts";
import { runLoad } from "../load/run-load.ts";
import { webSocketServer, type Guest } from "../load/web-socket-server.ts";
import { makeFolder } from "../folder.ts";
import { realRouter } from "../real-parts.ts";
import { PLAIN } from "./behaviour.ts";

const guardian = startGuardian();
const clock = startRunClock();
const findPort = portFinder();
const installed = await Promise.all([realRouter("nginx"), realRouter("haproxy"), realRouter("caddy")]);
const ROUTERS = [null, ...installed.filter((one) => one !== null)];
const closers: (() => unknown)[] = [];
after(async () => {
  guardian.close();
  await Promise.all(closers.map((close) => close()));
});

function start(
  found: FoundRouter | null,
  behaviour: Partial<RouterBehaviour>,
  upstreams: readonly Upstream[],
): Promise<Router> {
  const folder = makeFolder("router");
  const options = { ...PLAIN, ...behaviour, port: 0, folder };
  return startRouter(found, options, upstreams, { clock, guardian, findPort, emit: () => undefined });
}

function load(
  port: number,
  template: Partial<RequestTemplate>,
  enough: (records: readonly RequestRecord[]) => boolean,
): Promise<RequestRecord[]> {
  const mix = [{ method: "GET", path: "/", body: null, weight: 1, ...template }] as const;
  return runLoad({ port, arrivals: { kind: "constant", ratePerSecond: 20 }, mix }, enough);
}

const TALK = { forMs: 500, everyMs: 50, message: "{id}:{n};", answer: "echo" } as const;

for (const found of ROUTERS) {
  const name = found?.name ?? "embedded";
  test(`${name}: a WebSocket is passed on to one copy, with its end, and its answer tells whom it met`, async () => {
    let guests = 0;
    const said = new Map<Guest, number>();
    const places = new Map<Guest, number>();
    // One leaves by itself, one is told to go, one is cut; each after two messages.
    const server = await webSocketServer(
      (guest, text) => {
        const count = (said.get(guest) ?? 0) + 1;
        said.set(guest, count);
        const place = places.get(guest) ?? 0;
        if (count <= 2 || place % 3 === 0) {
          guest.say(text);
        } else if (place % 3 === 1) {
          guest.dismiss(1001);
        } else {
          guest.socket.destroy();
        }
      },
      (guest) => places.set(guest, (guests += 1)),
    );
    closers.push(server.close);
    const a = { copy: "A", host: "127.0.0.1", port: server.port };
    const router = await start(found, { webSockets: true }, [a]);
    try {
      const endOf = ({ webSocket, error }: RequestRecord): string =>
        error === "ECONNRESET" ? "EOF" : (error ?? String(webSocket?.closeCode ?? "left"));
      const records = await load(router.port, { webSocket: TALK }, (all) =>
        ["1001", "EOF", "left"].every((end) => all.some((one) => endOf(one) === end)),
      );
      for (const record of records) {
        const { status, upstream, webSocket, copy } = record;
        assert.deepEqual([status, copy], [101, "A"]);
        // Caddy changes no head of an upgrade.
        assert.ok(name === "caddy" || upstream?.startsWith(`127.0.0.1:${server.port}|`), upstream ?? "");
        assert.ok((webSocket?.answered ?? 0) > 0 || endOf(record) === "EOF", JSON.stringify(record));
        assert.ok(["1001", "EOF", "left"].includes(endOf(record)), endOf(record));
      }
    } finally {
      await router.stop();
    }
  });

  test(`${name}: a WebSocket outlives the removal of its copy, and a refused one is a bad gateway`, async () => {
    const server = await webSocketServer();
    closers.push(server.close);
    const a = { copy: "A", host: "127.0.0.1", port: server.port };
    const router = await start(found, { webSockets: true }, [a]);
    try {
      let removed: Promise<void> | undefined;
      const records = await load(router.port, { webSocket: { ...TALK, forMs: 2000 } }, (all) => {
        removed ??= router.set([]);
        return all.length >= 20 && all.some(({ status }) => status !== 101);
      });
      await removed;
      const [stood, refused] = [
        records.filter(({ status }) => status === 101),
        records.filter(({ status }) => status !== 101),
      ];
      assert.ok(stood.length > 0 && refused.length > 0);
      // Caddy sends a close frame of its own to all when its configuration changes.
      const codes = new Set(stood.map(({ error, webSocket }) => error ?? webSocket?.closeCode ?? "left"));
      assert.deepEqual(
        [...codes].filter((one) => one !== "left" && (name !== "caddy" || one !== 1001)),
        [],
      );
      assert.ok(refused.every(({ status }) => (status ?? 0) >= 500));
    } finally {
      await router.stop();
    }
  });
}

for (const found of ROUTERS.filter((one) => one !== null)) {
  test(`${found.name}: clients speak HTTP/2 to it, and it speaks HTTP/1.1 to the copies`, async () => {
    const seen = new Set<string>();
    const server = createServer((req, res) => {
      seen.add(req.httpVersion);
      res.setHeader("x-lastcall-copy", "A");
      res.end(req.headers["x-request-id"]);
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    closers.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const router = await start(found, { http2: "only", clientKeepAlive: true }, [
      { copy: "A", host: "127.0.0.1", port },
    ]);
    try {
      const records = await load(router.port, { protocol: "h2" }, (all) => all.length >= 20);
      for (const { fate, status, copy, protocol, upstream, bytes, id } of records) {
        assert.deepEqual([fate, status, copy, protocol, bytes.got], ["answered", 200, "A", "h2", id.length]);
        assert.match(upstream ?? "", new RegExp(`^127\\.0\\.0\\.1:${port}\\|`));
      }
      assert.ok(!seen.has("2.0"));
      const log = await router.accessLog(() => true);
      assert.ok(records.some(({ id }) => log?.has(id)));
    } finally {
      await router.stop();
    }
  });
}

for (const found of ROUTERS.filter((one) => one === null || one.name === "haproxy")) {
  test(`${found?.name ?? "embedded"}, layer 4: the copies are spoken to by HTTP/2`, async () => {
    const server = createHttp2Server((req, res) => void res.end(req.httpVersion)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    closers.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const router = await start(found, { http2: "only", pooledAtRemoval: "pinned", clientKeepAlive: true }, [
      { copy: "A", host: "127.0.0.1", port },
    ]);
    try {
      for (const { fate, status, bytes } of await load(
        router.port,
        { protocol: "h2" },
        (all) => all.length >= 10,
      )) {
        assert.deepEqual([fate, status, bytes.got], ["answered", 200, 3]);
      }
    } finally {
      await router.stop();
    }
  });
}

test("a router that cannot speak HTTP/2 is named, and those that can", () => {
  const refused = (router: RouterName, change: Partial<RouterBehaviour>): string => {
    try {
      assertCan(router, { ...PLAIN, ...change });
      return "";
    } catch (error) {
      assert.ok(error instanceof LabError);
      assert.equal(error.code, "LAB_ROUTER_CANNOT");
      return `${error.message} ${error.next}`;
    }
  };
  assert.match(refused("embedded", { http2: "only" }), /--protocol h2.*nginx, haproxy or caddy/);
  assert.match(refused("nginx", { http2: "beside" }), /speaks one of them.*haproxy or caddy/);
  assert.equal(refused("embedded", { http2: "only", pooledAtRemoval: "pinned" }), "");
  assert.equal(refused("nginx", { http2: "only" }), "");
});
