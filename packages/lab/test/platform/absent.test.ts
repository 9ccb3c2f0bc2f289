// An orchestrator that is not there, refuses, or forgets: told by a stand-in for the docker program that says what the
// real one says. The real engine is in engine.test.ts and `npm run swarm`.
import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startRunClock } from "../../src/ledger/clock.ts";
import { LabError } from "../../src/errors.ts";
import { openCompose } from "../../src/platform/compose.ts";
import { openSwarm } from "../../src/platform/swarm.ts";
import { Interrupted, openScope } from "../../src/rollout/scope.ts";
import { startGuardian } from "../../src/target/guardian.ts";
import { makeFolder } from "../folder.ts";

const folder = makeFolder("docker");

/** A docker that runs these shell lines; `$*` is what it is asked. */
function standIn(name: string, lines: string): Record<string, string | undefined> {
  const program = path.join(folder, name);
  writeFileSync(program, `#!/bin/sh\n${lines}\n`);
  chmodSync(program, 0o755);
  return { ...process.env, LASTCALL_DOCKER: program };
}

async function refusal(promise: Promise<unknown>): Promise<LabError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof LabError, String(error));
    return error;
  }
  return assert.fail("it was not refused");
}

const SWARM = { service: "web", drainNode: null, engines: [], taskTimeoutMs: 50 };
const COMPOSE = {
  file: "compose.yaml",
  service: null,
  containerPort: null,
  readyPath: "/ready",
  readyTimeoutMs: 1000,
};
const SERVICE =
  '[{"Spec":{"Mode":{"Replicated":{"Replicas":2}},"UpdateConfig":{"Order":"start-first"},"TaskTemplate":{"ContainerSpec":{"StopGracePeriod":100000000}}}}]';

test("a docker program that is not installed is named", async () => {
  const env = { ...process.env, LASTCALL_DOCKER: path.join(folder, "nowhere") };
  for (const opening of [openSwarm(SWARM, env), openCompose(COMPOSE, folder, env)]) {
    const error = await refusal(opening);
    assert.equal(error.code, "LAB_PLATFORM_MISSING");
    assert.match(error.message, /was not found/);
  }
});

test("an engine that does not answer is told with docker's own words", async () => {
  const env = standIn(
    "no-engine",
    'echo "Cannot connect to the Docker daemon at unix:///x.sock." >&2; exit 1',
  );
  const error = await refusal(openSwarm(SWARM, env));
  assert.equal(error.code, "LAB_PLATFORM_MISSING");
  assert.match(error.message, /Cannot connect to the Docker daemon/);
  assert.match(error.next, /DOCKER_HOST/);
});

test("an engine that is in no swarm, and a swarm without that service, are told apart", async () => {
  const version = 'case "$1" in version) echo 20; exit 0;; esac';
  const none = standIn(
    "no-swarm",
    `${version}; echo "Error response from daemon: This node is not a swarm manager." >&2; exit 1`,
  );
  assert.equal((await refusal(openSwarm(SWARM, none))).code, "LAB_PLATFORM_MISSING");
  const unknown = standIn("no-service", `${version}; echo "Error: no such service: web" >&2; exit 1`);
  const error = await refusal(openSwarm(SWARM, unknown));
  assert.equal(error.code, "LAB_PLATFORM_REFUSED");
  assert.match(error.message, /no service web in the swarm: Error: no such service/);
});

async function update(env: Record<string, string | undefined>): Promise<LabError> {
  const service = await openSwarm(SWARM, env);
  const scope = openScope(new AbortController().signal);
  const guardian = startGuardian();
  try {
    const tasks = await service.follow(scope, startRunClock(), guardian, () => undefined);
    return await refusal(service.update(scope, tasks));
  } finally {
    await scope.close();
    guardian.close();
  }
}

test("an update that Swarm gives up on ends the run with Swarm's words", async () => {
  const paused = SERVICE.replace(
    "}]",
    ',"UpdateStatus":{"State":"paused","StartedAt":"now","Message":"update paused due to failure"}}]',
  );
  const marker = path.join(folder, "updated");
  const env = standIn(
    "paused",
    `case "$1 $2" in
  "version "*) echo 20;;
  "service inspect") if [ -e ${marker} ]; then echo '${paused}'; else echo '${SERVICE}'; fi;;
  "service update") : > ${marker};;
esac`,
  );
  const error = await update(env);
  assert.equal(error.code, "LAB_PLATFORM_REFUSED");
  assert.match(error.message, /gave up on the update of web \(paused\): update paused due to failure/);
});

test("a task that Swarm forgets ends the wait with what there is of them", async () => {
  const env = standIn(
    "forgets",
    `case "$1 $2" in
  "version "*) echo 20;;
  "service inspect") echo '${SERVICE}';;
  "service ps") echo '{"Name":"web.1","Node":"n1","CurrentState":"Running 3 seconds ago","Error":""}';;
esac`,
  );
  const error = await update(env);
  assert.equal(error.code, "LAB_PLATFORM_LOST");
  assert.match(error.message, /Tasks that should run: 1 of 2 \(web\.1: Running/);
});

test("a service that is removed while its update is waited for is told as lost", async () => {
  const marker = path.join(folder, "removed");
  const env = standIn(
    "removed-docker",
    `case "$1 $2" in
  "version "*) echo 20;;
  "service inspect") if [ -e ${marker} ]; then echo "Error: no such service: web" >&2; exit 1; fi; echo '${SERVICE}';;
  "service update") : > ${marker};;
esac`,
  );
  const error = await update(env);
  assert.equal(error.code, "LAB_PLATFORM_LOST");
  assert.match(error.message, /any more/);
});

test("a run that ends while a node is drained makes it active again", async () => {
  const asked = path.join(folder, "asked");
  const env = standIn(
    "drains",
    `echo "$*" >> ${asked}
case "$1 $2" in
  "version "*) echo 20;;
  "service inspect") echo '${SERVICE}';;
esac`,
  );
  const service = await openSwarm({ ...SWARM, drainNode: "n2", taskTimeoutMs: 60_000 }, env);
  const interruption = new AbortController();
  const scope = openScope(interruption.signal);
  const guardian = startGuardian();
  const tasks = await service.follow(scope, startRunClock(), guardian, () => undefined);
  const updated = assert.rejects(service.update(scope, tasks), Interrupted);
  while (!readFileSync(asked, "utf8").includes("--availability drain n2")) {
    await sleep(10);
  }
  interruption.abort();
  await updated;
  await scope.close();
  guardian.close();
  // A look at the service that was under way may end after it.
  assert.match(readFileSync(asked, "utf8"), /--availability drain n2\n[\s\S]*--availability active n2\n/);
});
