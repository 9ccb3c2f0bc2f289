import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { LabError } from "../../src/errors.ts";
import { readCompose } from "../../src/platform/compose-file.ts";

const FILE = `
services:
  web:
    image: orders:1
    container_name: web
    init: true
    stop_signal: SIGQUIT
    stop_grace_period: 1m8s
    ports: ["127.0.0.1:8080:9001/tcp"]
    environment: { LASTCALL_DRAIN_DELAY: 2s }
    depends_on: [db]
    deploy: { replicas: 3 }
  db:
    image: db:1
    ports: ["5432:5432"]
`;

function refusal(text: string, service: string | null, port: number | null): LabError {
  try {
    readCompose(text, service, port);
  } catch (error) {
    assert.ok(error instanceof LabError);
    return error;
  }
  return assert.fail("it was read");
}

test("what the file says of the stop is kept, and what would make two copies collide is not", () => {
  const service = readCompose(FILE, "web", null);
  assert.deepEqual(
    [service.containerPort, service.gracePeriodMs, service.stopSignal, service.init],
    [9001, 68_000, "SIGQUIT", true],
  );
  const copy = parse(service.fileFor("172.17.0.1", 15_001)) as {
    readonly services: Record<string, Record<string, unknown>>;
  };
  assert.deepEqual(copy.services["web"], {
    image: "orders:1",
    init: true,
    stop_signal: "SIGQUIT",
    stop_grace_period: "1m8s",
    ports: ["172.17.0.1:15001:9001"],
    environment: { LASTCALL_DRAIN_DELAY: "2s" },
    depends_on: ["db"],
  });
  assert.deepEqual(copy.services["db"], { image: "db:1" });
});

test("without a word the grace period is Compose's ten seconds, and the signal SIGTERM", () => {
  const service = readCompose("services: { web: { image: a, expose: [80] } }", null, null);
  assert.deepEqual(
    [service.name, service.containerPort, service.gracePeriodMs, service.stopSignal],
    ["web", 80, 10_000, "SIGTERM"],
  );
});

test("a service or a port that is not clear is asked for, with what there is", () => {
  assert.match(refusal(FILE, null, null).message, /2 services: web, db/);
  assert.match(refusal(FILE, "api", null).next, /It has web, db/);
  assert.match(refusal("services: { web: { image: a } }", null, null).message, /publishes no port/);
  assert.match(
    refusal('services: { web: { image: a, ports: ["80", "81:81"] } }', null, null).message,
    /2 ports: 80, 81/,
  );
  assert.equal(readCompose("services: { web: { image: a } }", null, 8080).containerPort, 8080);
});
