import assert from "node:assert/strict";
import { test } from "node:test";
import { children, openFiles, soak } from "./soak/soak.ts";

/** `npm run soak` has 500. */
const SHUTDOWNS = Number(process.env["SOAK_SHUTDOWNS"] ?? 20);
const AT_ONCE = Number(process.env["SOAK_AT_ONCE"] ?? 2);
const SEED = Number(process.env["SOAK_SEED"] ?? 1);

test(
  `E2 ${SHUTDOWNS} shutdowns at random instants under load: each record is what the clients saw, and nothing is left behind`,
  { skip: process.platform !== "linux", timeout: 3_600_000 },
  async (t) => {
    await soak(1, 1, SEED + 1_000_000);
    const before = openFiles();
    const startedAt = performance.now();
    const { clean, seen, accepted } = await soak(SHUTDOWNS, AT_ONCE, SEED);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    t.diagnostic(`${SHUTDOWNS} shutdowns (${clean} clean) in ${seconds} s, ${accepted} requests accepted`);
    t.diagnostic(JSON.stringify(seen));
    assert.deepEqual(children(), []);
    assert.ok(openFiles() <= before + 2, `${openFiles()} files are open, ${before} were`);
  },
);
