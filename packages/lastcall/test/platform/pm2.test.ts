import assert from "node:assert/strict";
import { test } from "node:test";
import { unpackEnvironment } from "../../src/platform/pm2.ts";

test("what pm2's cluster mode has packed into one variable is read as it will be after unpacking", () => {
  const packed = JSON.stringify({ LASTCALL_DRAIN_DELAY: "2s", kill_timeout: 8000, node_args: ["--import"] });
  assert.deepEqual(unpackEnvironment({ PATH: "/bin", pm2_env: packed }), {
    PATH: "/bin",
    pm2_env: packed,
    LASTCALL_DRAIN_DELAY: "2s",
    kill_timeout: "8000",
  });
});

test("an environment without it, or with something else of that name, is left alone", () => {
  assert.deepEqual(unpackEnvironment({ A: "1" }), { A: "1" });
  assert.deepEqual(unpackEnvironment({ pm2_env: "not json" }), { pm2_env: "not json" });
});
