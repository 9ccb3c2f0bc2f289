import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createLifecycle } from "../src/create.ts";
import { FakeHost } from "../src/testing.ts";
import { VERSION } from "../src/version.ts";

const KEY = Symbol.for("lastcall.lifecycle");

test("G9 a second createLifecycle joins the first", () => {
  const host = new FakeHost();
  const life = createLifecycle({ drainDelayMs: 100 }, host);
  assert.equal(createLifecycle({}, host), life);
  assert.equal(createLifecycle({ drainDelayMs: 100 }, host), life);
});

test("G9 a second createLifecycle that asks for something else is an error with a code", () => {
  const host = new FakeHost();
  createLifecycle({ drainDelayMs: 100 }, host);
  assert.throws(() => createLifecycle({ drainDelayMs: 200 }, host), {
    code: "LASTCALL_OPTIONS_DIFFER",
    message: /drainDelayMs 100; this call asks for 200/,
  });
});

test("G9 an option that the environment overrides is the same for both calls", () => {
  const host = new FakeHost({ env: { LASTCALL_DRAIN_DELAY: "3s" } });
  const life = createLifecycle({ drainDelayMs: 100 }, host);
  assert.equal(createLifecycle({ drainDelayMs: 100 }, host), life);
  assert.equal(life.budget.drainDelayMs, 3000);
});

test("G9 two majors in one process are an error with a code", () => {
  const host = new FakeHost();
  host.registry[KEY] = { version: "99.0.0", options: {}, life: {} };
  assert.throws(() => createLifecycle({}, host), { code: "LASTCALL_VERSIONS" });
});

test("the registry is empty again when a life is over", async () => {
  const host = new FakeHost();
  await createLifecycle({}, host).shutdown();
  assert.equal(host.registry[KEY], undefined);
});

test("the version in the code is that of the package", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  assert.equal(VERSION, manifest.version);
});
