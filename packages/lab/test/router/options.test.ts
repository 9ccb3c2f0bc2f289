import assert from "node:assert/strict";
import { test } from "node:test";
import { LabError } from "../../src/errors.ts";
import { isKnown } from "../../src/router/find.ts";
import { assertCan, inabilityOf, type RouterBehaviour, type RouterName } from "../../src/router/options.ts";
import { chooseRouter } from "../../src/router/start.ts";
import { PLAIN } from "./behaviour.ts";

const READINESS: RouterBehaviour = { ...PLAIN, removal: "readiness" };

function refused(router: RouterName, behaviour: RouterBehaviour, words: RegExp, next: RegExp): void {
  assert.throws(
    () => assertCan(router, behaviour),
    (error) => {
      assert.ok(error instanceof LabError);
      assert.equal(error.code, "LAB_ROUTER_CANNOT");
      assert.match(error.message, words);
      assert.match(error.next, next);
      return true;
    },
  );
}

test("every router can do the plain thing", () => {
  for (const router of ["embedded", "nginx", "haproxy", "caddy"] as const) {
    assert.equal(inabilityOf(router, PLAIN), null);
  }
});

test("what a router cannot do is refused with its flag, the reason, and the routers that can", () => {
  refused(
    "nginx",
    READINESS,
    /nginx cannot do --removal readiness: it asks no copy/,
    /--router embedded, haproxy or caddy/,
  );
  refused(
    "caddy",
    { ...PLAIN, pooledAtRemoval: "pinned" },
    /--pooled-at-removal pinned/,
    /--router embedded or haproxy,/,
  );
  refused(
    "embedded",
    { ...PLAIN, passive: { maxFails: 1, failTimeoutMs: 1000 } },
    /--max-fails/,
    /nginx or caddy/,
  );
  refused(
    "haproxy",
    { ...PLAIN, passive: { maxFails: 1, failTimeoutMs: 1000 } },
    /add --removal readiness/,
    /nginx or caddy/,
  );
  refused(
    "caddy",
    { ...READINESS, health: { ...PLAIN.health, fall: 3 } },
    /--health-fall/,
    /--router embedded or haproxy,/,
  );
});

test("a balancer of layer 4 cannot repeat a POST", () => {
  refused("haproxy", { ...PLAIN, pooledAtRemoval: "pinned", retryPosts: true }, /--retry-posts/, /No router/);
});

test("what no router can do at once is said so", () => {
  const behaviour: RouterBehaviour = {
    ...PLAIN,
    pooledAtRemoval: "cut",
    passive: { maxFails: 1, failTimeoutMs: 1000 },
  };
  refused("nginx", behaviour, /nginx cannot do/, /No router of the lab can do all/);
});

test("auto takes what is there and able; where nothing is, the embedded router or what would have to be installed", async () => {
  const nothing = {
    PATH: "/nowhere",
    LASTCALL_NGINX: "/nowhere",
    LASTCALL_HAPROXY: "/nowhere",
    LASTCALL_CADDY: "/nowhere",
  };
  assert.equal(await chooseRouter("auto", PLAIN, nothing), null);
  assert.equal(await chooseRouter("auto", READINESS, nothing), null);
  const marks = { ...READINESS, passive: { maxFails: 1, failTimeoutMs: 1000 } };
  await assert.rejects(chooseRouter("auto", marks, nothing), { code: "LAB_ROUTER_MISSING" });
  await assert.rejects(chooseRouter("embedded", marks, nothing), { code: "LAB_ROUTER_CANNOT" });
});

test("a version that is too old is known as such", () => {
  assert.equal(isKnown({ name: "haproxy", version: "HAProxy 2.4.22" }), false);
  assert.equal(isKnown({ name: "haproxy", version: "HAProxy 2.6.12" }), true);
  assert.equal(isKnown({ name: "haproxy", version: "HAProxy 3.0" }), true);
  assert.equal(isKnown({ name: "caddy", version: "Caddy 2.5.9" }), false);
});
