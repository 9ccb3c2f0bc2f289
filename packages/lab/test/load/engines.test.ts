// The clients that real programs use, driven by the same plan and told in the same records as the lab's own.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, test } from "node:test";
import type { RequestRecord } from "../../src/ledger/records.ts";
import { ENGINES, type LoadPlan } from "../../src/load/load.ts";
import { closedPort } from "./raw-server.ts";
import { runLoad } from "./run-load.ts";

const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(handler: RequestListener): Promise<number> {
  const server = createServer({ keepAliveTimeout: 60_000 }, handler);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function run(
  change: Partial<LoadPlan> & { readonly port: number },
  enough: number,
): Promise<RequestRecord[]> {
  const mix: LoadPlan["mix"] = [
    { method: "GET", path: "/a/{id}", body: null, weight: 1 },
    { method: "POST", path: "/b", body: '{"id":"{id}"}', weight: 1 },
  ];
  return runLoad({ arrivals: { kind: "constant", ratePerSecond: 100 }, mix, ...change }, enough);
}

for (const engine of ENGINES) {
  describe(`the engine ${engine}`, { concurrency: true }, () => {
    test("sends each request once, whole and under its id, and its connections are seen", async () => {
      const seen = new Map<string, string>();
      const port = await serve((req, res) => {
        let body = "";
        req.setEncoding("utf8").on("data", (part: string) => (body += part));
        req.once("end", () => {
          const id = String(req.headers["x-request-id"]);
          seen.set(id, `${req.method} ${req.url} ${body} ${String(req.headers["idempotency-key"])}`);
          res.setHeader("content-type", "application/json");
          res.end('{"pid":4711}');
        });
      });
      const records = await run({ port, engine, arrivals: { kind: "constant", ratePerSecond: 40 } }, 30);
      assert.equal(seen.size, records.length);
      for (const record of records) {
        const { id, method } = record;
        assert.equal(
          seen.get(id),
          method === "GET" ? `GET /a/${id}  undefined` : `POST /b {"id":"${id}"} ${id}`,
        );
        assert.deepEqual(
          [record.fate, record.status, record.error, record.stage, record.copy],
          ["answered", 200, null, null, "4711"],
        );
        assert.deepEqual(record.bytes, { promised: 12, got: 12 });
        const times = [record.dispatchedMs, record.connectedMs ?? 0, record.firstByteMs ?? 0, record.endedMs];
        assert.deepEqual(
          times,
          times.toSorted((a, b) => a - b),
        );
      }
      // Connections are used again, and a number stands for each.
      const reused = records.filter((record) => record.connection.reuse > 0);
      assert.ok(reused.length > 0, `${reused.length} of ${records.length}`);
      const connections = new Set(records.map((record) => record.connection.id));
      assert.equal(connections.size, records.length - reused.length);
    });

    test("a closed door fails in connect", async () => {
      const records = await run({ port: await closedPort(), engine }, 5);
      for (const record of records) {
        assert.deepEqual(
          [record.fate, record.stage, record.error, record.status],
          ["failed", "connect", "ECONNREFUSED", null],
        );
      }
    });

    test("a cut while waiting and a cut in the body are told apart", async () => {
      const port = await serve((req, res) => {
        if (req.method === "GET") {
          req.socket.resetAndDestroy();
        } else {
          // With its body read to the end: bytes that nobody has read would turn the cut into a reset that takes the head along.
          req.resume().once("end", () => {
            res.writeHead(200, { "content-length": "100" });
            res.write("some");
            setTimeout(() => req.socket.destroy(), 300);
          });
        }
      });
      const records = await run({ port, engine, arrivals: { kind: "constant", ratePerSecond: 30 } }, 12);
      for (const record of records) {
        assert.equal(record.fate, "failed");
        assert.equal(record.stage, record.method === "GET" ? "wait" : "body", JSON.stringify(record));
        assert.ok(["ECONNRESET", "EOF"].includes(record.error ?? ""), String(record.error));
        assert.equal(record.bytes.got, record.method === "GET" ? 0 : 4);
      }
      assert.deepEqual([...new Set(records.map((record) => record.method))].toSorted(), ["GET", "POST"]);
    });

    test("a request that nobody answers ends with its timeout", async () => {
      const port = await serve(() => undefined);
      const records = await run({ port, engine, timeoutMs: 400 }, 3);
      for (const record of records) {
        assert.deepEqual([record.fate, record.error], ["failed", "TIMEOUT"]);
        assert.ok(record.endedMs - record.intendedMs >= 390, String(record.endedMs - record.intendedMs));
      }
    });

    test("an upload goes out in its pieces, with its digest, and a fresh connection carries one request", async () => {
      const heads: (string | undefined)[] = [];
      const port = await serve((req, res) => {
        let length = 0;
        req.on("data", (part: Buffer) => (length += part.length));
        req.once("end", () => {
          heads.push(req.headers["content-digest"] as string, req.headers["transfer-encoding"]);
          res.end(String(length));
        });
      });
      const upload = { bytes: 200_000, framing: "chunked", pieceBytes: 50_000, everyMs: 10 } as const;
      const records = await run(
        {
          port,
          engine,
          arrivals: { kind: "constant", ratePerSecond: 20 },
          mix: [
            { method: "POST", path: "/u", body: null, weight: 1, name: "big", connection: "fresh", upload },
          ],
        },
        4,
      );
      for (const record of records) {
        assert.deepEqual([record.fate, record.status, record.template], ["answered", 200, "big"]);
        assert.deepEqual(record.bytes, { promised: 6, got: 6 });
        assert.equal(record.connection.reuse, 0);
      }
      assert.deepEqual(new Set(heads), new Set([heads[0], "chunked"]));
      assert.match(heads[0] ?? "", /^sha-256=:[A-Za-z0-9+/]{43}=:$/);
    });
  });
}

test("several workers share the arrivals: each is sent once, and no connection has the number of another", async () => {
  const port = await serve((_req, res) => void res.end());
  const records = await run({ port, workers: 3 }, 60);
  const numbers = records.map(({ id }) => Number(id.split("-")[1])).toSorted((a, b) => a - b);
  assert.equal(new Set(numbers).size, numbers.length);
  // A worker may be stopped a little before another: but for the last few nothing is left out.
  assert.deepEqual(
    numbers.slice(0, 50),
    Array.from({ length: 50 }, (_, n) => n + 1),
  );
  for (const record of records) {
    const expectedMs = (Number(record.id.split("-")[1]) - 1) * 10;
    const first = records.find(({ id }) => id.endsWith("-000001"));
    assert.ok(Math.abs(record.intendedMs - (first?.intendedMs ?? 0) - expectedMs) < 0.01);
  }
  const byConnection = new Map<number, Set<number>>();
  for (const { id, connection } of records) {
    const worker = (Number(id.split("-")[1]) - 1) % 3;
    byConnection.set(connection.id, (byConnection.get(connection.id) ?? new Set()).add(worker));
  }
  assert.ok([...byConnection.values()].every((workers) => workers.size === 1));
});
