// What only some routers can do, with the real ones: removal by readiness, balancers of layer 4, passive marks.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { startRunClock } from "../../src/ledger/clock.ts";
import type { EventRecord } from "../../src/ledger/records.ts";
import type { RouterBehaviour } from "../../src/router/options.ts";
import type { FoundRouter, Router, Upstream } from "../../src/router/router.ts";
import { startRouter } from "../../src/router/start.ts";
import { portFinder } from "../../src/target/free-port.ts";
import { startGuardian } from "../../src/target/guardian.ts";
import { realRouter } from "../real-parts.ts";
import { PLAIN } from "./behaviour.ts";
import { makeFolder } from "../folder.ts";

const guardian = startGuardian();
const clock = startRunClock();
const findPort = portFinder();
const [nginx, haproxy, caddy] = await Promise.all([
  realRouter("nginx"),
  realRouter("haproxy"),
  realRouter("caddy"),
]);
const closers: (() => void)[] = [];
after(() => {
  guardian.close();
  closers.forEach((close) => close());
});

interface Copy extends Upstream {
  ready: boolean;
  /** Requests that wait for ever. */
  hanging: number;
}

async function copy(name: string): Promise<Copy> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    if (req.url === "/ready") {
      res.writeHead(one.ready ? 200 : 503).end();
    } else if (req.url === "/hang") {
      one.hanging += 1;
    } else {
      res.end(name);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const one: Copy = {
    copy: name,
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
    ready: true,
    hanging: 0,
  };
  return one;
}

async function start(
  found: FoundRouter | null,
  behaviour: Partial<RouterBehaviour>,
  upstreams: readonly Upstream[],
  emit: (event: EventRecord) => void = () => undefined,
): Promise<Router> {
  const folder = makeFolder("router");
  const options = { ...PLAIN, ...behaviour, port: 0, folder };
  return startRouter(found, options, upstreams, { clock, guardian, findPort, emit });
}

/** The answer's body, its status when that says no, or the code of the error. */
function ask(router: Router, agent: Agent | false, to = "/"): Promise<string> {
  return new Promise((resolve) => {
    request({ host: "127.0.0.1", port: router.port, path: to, agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.once("close", () => resolve(answer.statusCode === 200 ? text : String(answer.statusCode)));
    })
      .once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""))
      .end();
  });
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  for (let tries = 0; !isSo(); tries += 1) {
    assert.ok(tries < 1000, what);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const one = (): Agent => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  closers.push(() => agent.destroy());
  return agent;
};

/** Null is the embedded router; what is not installed is skipped. */
const ASKING = [["embedded", null] as const, ["haproxy", haproxy] as const, ["caddy", caddy] as const];
const OF_LAYER_4 = ASKING.slice(0, 2);

for (const [name, found] of ASKING) {
  const skip = found === null && name !== "embedded";
  test(
    `${name}: a copy that is not ready is taken out by the router itself, and let in again`,
    { skip },
    async () => {
      const [a, b] = [await copy("A"), await copy("B")];
      const events: string[] = [];
      const emit = ({ event, copy: of, detail }: EventRecord): void =>
        void events.push(`${of} ${event} ${detail["port"] === (of === "B" ? b.port : a.port)}`);
      const health = { path: "/ready", intervalMs: 100, fall: null, rise: null };
      const router = await start(found, { removal: "readiness", health }, [a, b], emit);
      try {
        const seen = new Set<string>();
        for (let n = 0; n < 200 && seen.size < 2; n += 1) {
          seen.add(await ask(router, false));
        }
        assert.deepEqual([...seen].toSorted(), ["A", "B"]);
        b.ready = false;
        await until(() => events.includes("B removed true"), `B removed: ${events.join(", ")}`);
        for (let n = 0; n < 10; n += 1) {
          assert.equal(await ask(router, false), "A");
        }
        b.ready = true;
        await until(() => events.at(-1) === "B added true", `B added: ${events.join(", ")}`);
      } finally {
        await router.stop();
      }
    },
  );
}

for (const [name, found] of OF_LAYER_4) {
  const skip = found === null && name !== "embedded";
  test(
    `${name}, pinned: a client's connection stays at the copy that was taken out, a new one goes elsewhere`,
    { skip },
    async () => {
      const [a, b] = [await copy("A"), await copy("B")];
      const router = await start(found, { pooledAtRemoval: "pinned", clientKeepAlive: true }, [a]);
      const pooled = one();
      try {
        assert.equal(await ask(router, pooled), "A");
        await router.set([a, b]);
        await router.set([b]);
        for (let n = 0; n < 3; n += 1) {
          assert.equal(await ask(router, pooled), "A");
          assert.equal(await ask(router, false), "B");
        }
        assert.equal(await router.accessLog(() => true), null);
      } finally {
        await router.stop();
      }
    },
  );

  test(
    `${name}, cut: the connections of the copy are ended at its removal, whatever they carry, and its log says so`,
    { skip },
    async () => {
      const [a, b] = [await copy("A"), await copy("B")];
      const router = await start(found, { pooledAtRemoval: "cut", clientKeepAlive: true }, [a]);
      try {
        const hanging = ask(router, false, "/hang");
        await until(() => a.hanging === 1, "the request is at A");
        await router.set([b]);
        assert.equal(await hanging, "ECONNRESET");
        assert.equal(await ask(router, false), "B");
        const classes = (await router.log()).map((line) => line.class);
        assert.deepEqual(classes, ["cut-by-router"]);
      } finally {
        await router.stop();
      }
    },
  );

  test(
    `${name}, layer 4: a closed door ends the client's connection, and with retries the next copy gets it`,
    { skip },
    async () => {
      const dead = { copy: "A", host: "127.0.0.1", port: await findPort() };
      const alone = await start(found, { pooledAtRemoval: "pinned" }, [dead]);
      try {
        assert.equal(await ask(alone, false), "ECONNRESET");
        assert.deepEqual(
          (await alone.log()).map((line) => line.class),
          ["connect-refused"],
        );
      } finally {
        await alone.stop();
      }
      const both = await start(found, { pooledAtRemoval: "pinned", retries: true }, [dead, await copy("B")]);
      try {
        for (let n = 0; n < 4; n += 1) {
          assert.equal(await ask(both, false), "B");
        }
      } finally {
        await both.stop();
      }
    },
  );
}

for (const found of [nginx, caddy]) {
  const name = found?.name ?? "a router that is not installed";
  test(
    `${name}: with a passive mark a copy that failed once is left alone`,
    { skip: found === null },
    async () => {
      if (found === null) {
        return;
      }
      const b = await copy("B");
      const dead = { copy: "A", host: "127.0.0.1", port: await findPort() };
      const passive = { maxFails: 1, failTimeoutMs: 60_000 };
      const tried = async (behaviour: Partial<RouterBehaviour>): Promise<number> => {
        const router = await start(found, { retries: true, ...behaviour }, [dead, b]);
        try {
          for (let n = 0; n < 12; n += 1) {
            assert.equal(await ask(router, false), "B");
          }
          return (await router.log()).filter((line) => line.class === "connect-refused").length;
        } finally {
          await router.stop();
        }
      };
      assert.equal(await tried({ passive }), 1);
      const unmarked = await tried({});
      assert.ok(unmarked > 1, String(unmarked));
    },
  );
}
