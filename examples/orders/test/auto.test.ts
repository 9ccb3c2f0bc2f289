import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { startService } from "./service.ts";

suite("the builds under lastcall/auto", { concurrency: 2 }, () => {
  for (const build of ["auto", "auto-naive"]) {
    test(`B1 ${build}: a request in flight at SIGTERM is answered, new ones are served through the delay, exit code 0`, async (t) => {
      const service = await startService(t, build, ["--drain-delay", "600ms"]);
      const work = service.ask("GET", "/work?seconds=2");
      await service.started("/work");
      assert.equal((await service.ask("GET", "/ready")).status, 200);
      const ending = service.stop("SIGTERM");
      assert.equal((await service.ask("GET", "/work?seconds=0")).status, 200);
      assert.deepEqual((await service.ask("GET", "/ready")).json, { ready: false });
      assert.equal((await work).status, 200);
      assert.equal((await ending).code, 0);
      assert.match(service.stderr(), /"outcome":"drained","endedBy":"lastcall","exitCode":0/);
    });

    test(`C1 ${build}: a request that never ends is cut at the deadline with a clean 503, exit code 3`, async (t) => {
      const service = await startService(t, build, ["--graceful-timeout", "700ms"]);
      const stuck = service.ask("GET", "/stuck");
      await service.started("/stuck");
      const ending = service.stop("SIGTERM");
      assert.equal((await stuck).status, 503);
      assert.equal((await ending).code, 3);
      assert.match(service.stderr(), /"unfinished":\[\{"route":"GET \/stuck"/);
    });
  }

  test("G8 auto-naive: the service's own handler runs at the gate, and the record names it", async (t) => {
    const service = await startService(t, "auto-naive", ["--drain-delay", "300ms"]);
    assert.equal((await service.stop("SIGTERM")).code, 0);
    assert.match(
      service.stderr(),
      /"foreign":\["SIGTERM: a handler \(builds\/naive\.js:\d+\), held \d+ ms, asked for exit code 0/,
    );
  });
});
