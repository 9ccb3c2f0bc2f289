import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventRecord } from "../../src/ledger/records.ts";
import { parseEvent, signalName } from "../../src/platform/docker.ts";
import { followTasks, slotOf } from "../../src/platform/swarm-tasks.ts";

const labels = (task: string): Record<string, string> => ({
  "com.docker.swarm.task.name": `${task}.x7f`,
  "com.docker.swarm.task.id": `id-${task}`,
});

test("an engine's line becomes an event on the run's clock; another line none", () => {
  const line =
    '{"Type":"container","Action":"kill","Actor":{"ID":"abc","Attributes":{"signal":"15"}},"timeNano":1700000001500000000}';
  assert.deepEqual(parseEvent(line, 1_700_000_000_000), {
    type: "container",
    action: "kill",
    id: "abc",
    attributes: { signal: "15" },
    atMs: 1500,
  });
  assert.equal(parseEvent("Error response from daemon", 0), null);
  assert.equal(parseEvent("{}", 0), null);
  assert.equal(signalName("15"), "SIGTERM");
  assert.equal(signalName("99"), "signal 99");
});

test("a task's slot is read off its name; a global service has none", () => {
  assert.equal(slotOf("web.3.x7f"), 3);
  assert.equal(slotOf("shop.web.12.x7f"), 12);
  assert.equal(slotOf("web.node1abc.x7f"), null);
  assert.equal(slotOf(undefined), null);
});

test("a slot is a place and its containers are generations, told from the start to the exit", () => {
  const told: EventRecord[] = [];
  const tasks = followTasks(true, (event) => void told.push(event));
  const event = (
    action: string,
    id: string,
    task: string,
    atMs: number,
    more: Record<string, string> = {},
  ): void => tasks.see({ type: "container", action, id, attributes: { ...labels(task), ...more }, atMs });
  tasks.found({ id: "old-container-id", labels: labels("web.1") }, 0);
  event("create", "new-container-id", "web.1", 10);
  event("start", "new-container-id", "web.1", 20);
  event("health_status: healthy", "new-container-id", "web.1", 30);
  event("kill", "old-container-id", "web.1", 40, { signal: "15" });
  assert.deepEqual(tasks.leaving(), ["A"]);
  event("die", "old-container-id", "web.1", 50, { exitCode: "0" });
  assert.deepEqual(tasks.leaving(), []);
  assert.deepEqual(
    told.map(({ copy, event: what, atMs }) => `${copy} ${what} ${atMs}`),
    ["A started 0", "A ready 0", "A2 started 20", "A2 ready 30", "A signal 40", "A exited 50"],
  );
  assert.equal(tasks.copyOf("web.1.x7f"), "A2");
  assert.equal(tasks.copyOf("old-containe"), "A");
  assert.equal(tasks.copyOf("somebody"), null);
});

test("SIGKILL after the stop signal is patience that ran out; a container that dies by itself was not asked", () => {
  const told: EventRecord[] = [];
  const tasks = followTasks(false, (event) => void told.push(event));
  const event = (action: string, id: string, task: string, more: Record<string, string> = {}): void =>
    tasks.see({ type: "container", action, id, attributes: { ...labels(task), ...more }, atMs: 1 });
  event("start", "a", "web.1");
  event("kill", "a", "web.1", { signal: "15" });
  event("kill", "a", "web.1", { signal: "9" });
  event("die", "a", "web.1", { exitCode: "137" });
  event("start", "b", "web.2");
  event("die", "b", "web.2", { exitCode: "1" });
  assert.deepEqual(
    told.filter((one) => one.event === "exited").map(({ detail }) => detail),
    [
      { code: null, signal: "SIGKILL", asked: true },
      { code: 1, signal: null, asked: false },
    ],
  );
  assert.ok(told.some((one) => one.event === "killed"));
});
