import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { suite, test } from "node:test";
import { createLifecycle } from "../../src/create.ts";
import { reusePortProblem } from "../../src/platform/reuse-port.ts";
import { FakeHost } from "../../src/testing.ts";

test("a port that is shared by reusePort is a problem unless the kernel hands its connections over", () => {
  const problem = reusePortProblem({ port: 8080, reusePort: true }, { migratesConnections: () => false });
  assert.equal(problem?.code, "LASTCALL_REUSE_PORT");
  assert.match(problem?.message ?? "", /port 8080.*tcp_migrate_req/);
  assert.equal(reusePortProblem({ port: 8080, reusePort: true }, { migratesConnections: () => true }), null);
  assert.equal(reusePortProblem({ port: 8080 }, { migratesConnections: () => false }), null);
  assert.equal(reusePortProblem(undefined, { migratesConnections: () => false }), null);
});

suite("a server of the lifecycle that listens with reusePort is refused", { concurrency: 1 }, () => {
  async function listening(server: ReturnType<typeof createServer>): Promise<void> {
    // Node 20 does not know the option and listens as ever.
    const options = { port: 0, host: "127.0.0.1", reusePort: true };
    server.listen(options);
    await once(server, "listening");
  }

  test("after listen() life.http() throws", async (t) => {
    const life = createLifecycle({}, new FakeHost());
    const server = createServer();
    t.after(() => server.close());
    await listening(server);
    assert.throws(() => life.http(server), { code: "LASTCALL_REUSE_PORT" });
  });

  test("before listen() the error is one that nobody caught", async (t) => {
    const host = new FakeHost();
    const failed: Error[] = [];
    host.fail = (error) => void failed.push(error);
    const life = createLifecycle({}, host);
    const server = createServer();
    t.after(() => server.close());
    life.http(server);
    await listening(server);
    assert.deepEqual(
      failed.map((error) => (error as { code?: string }).code),
      ["LASTCALL_REUSE_PORT"],
    );
  });
});
