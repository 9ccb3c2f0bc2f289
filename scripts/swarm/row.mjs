// One row of `npm run swarm`: the orders service and HAProxy in the swarm, and `lastcall rollout` against them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const lastcall = path.join(root, "packages/lab/bin/lastcall.js");
const PORT = 18_900;
export const RATE = 40;

const words = (line) => line.trim().split(/\s+/);

async function answers() {
  try {
    return (await fetch(`http://127.0.0.1:${PORT}/ready`, { signal: AbortSignal.timeout(1000) })).ok;
  } catch {
    return false;
  }
}

function createService(docker, { build, replicas }, shared) {
  docker(
    "n1",
    ...words(`service create --quiet --detach --name web --replicas ${replicas} --network tasks
      --endpoint-mode dnsrr --stop-grace-period 15s --no-resolve-image
      --update-order start-first --update-parallelism 1 --update-delay 8s
      --health-cmd ask-ready --health-interval 2s --health-timeout 10s --health-retries 5
      --env COPY={{.Task.Name}} --env LASTCALL_EXECUTED=/shared/executed`),
    "--mount",
    `type=bind,source=${shared},target=/shared`,
    "orders:1",
    ...words(`--build ${build} --host 0.0.0.0 --port 9001 --db /tmp/orders.db`),
    ...(build === "lastcall"
      ? words("--drain-delay 4s --grace-period 14s --graceful-timeout 7s --teardown-timeout 1s")
      : []),
  );
  docker(
    "n1",
    ...words(`run --detach --name router --network tasks --publish 127.0.0.1:${PORT}:8000 haproxy:1`),
  );
}

function runningTasks(docker) {
  const states = docker(
    "n1",
    ...words("service ps web --filter desired-state=running --format {{.CurrentState}}"),
  );
  return states.split("\n").filter((state) => state.startsWith("Running")).length;
}

/** Plays a row; what is to be shown of it. `checkpoint` throws when the run was interrupted. */
export async function playRow(row, home, { docker, socketOf }, checkpoint) {
  const { name, title, nodes, replicas, loses } = row;
  console.log(`\n== ${title}: ${replicas} tasks on ${nodes === 1 ? "one node" : "two nodes"}`);
  const shared = path.join(home, "shared", name);
  mkdirSync(shared, { recursive: true });

  async function until(what, condition) {
    for (let tries = 0; tries < 200; tries += 1) {
      checkpoint();
      if (await condition()) return;
      await delay(200);
    }
    throw new Error(`${what} did not happen within 40 s`);
  }

  try {
    createService(docker, row, shared);
    await until("the first answer through HAProxy", answers);
    await until("all tasks running", () => runningTasks(docker) === replicas);
    // HAProxy has asked every task once.
    await delay(2000);
    const flags = Object.entries({
      platform: "swarm",
      service: "web",
      url: `http://127.0.0.1:${PORT}`,
      get: "/work?seconds=0.2&id={id}",
      post: "/orders?id={id}",
      "post-body": '{"id":"{id}","work":0.2}',
      executed: path.join(shared, "executed"),
      rate: RATE,
      "ready-timeout": "60s",
      out: path.join(home, "runs", name),
      // A drained node does not get its tasks back: that can be done once.
      ...(nodes === 1 ? { attempts: 3 } : { "drain-node": "n2", engines: socketOf("n2") }),
    }).map(([flag, value]) => `--${flag}=${value}`);
    const child = spawn(process.execPath, [lastcall, "rollout", "--json", ...flags], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, DOCKER_HOST: socketOf("n1") },
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
    const [exitCode] = await once(child, "close");
    checkpoint();
    if (text === "") throw new Error(`lastcall rollout ended with ${exitCode}`);
    const { rows, platform: order } = JSON.parse(text);
    const [seen] = rows;
    const lost = seen.getFailed + seen.postFailed;
    const isAsExpected = loses ? lost > 0 : lost === 0 && seen.rows === seen.acknowledged;
    const shown = seen.verdict.restarts.length > 0 && isAsExpected;
    return { title, row: seen, lost, order, shows: seen.verdict.outcome === "invalid" ? null : shown };
  } finally {
    docker("n1", "rm", "--force", "router");
    docker("n1", "service", "rm", "web");
    await delay(500);
  }
}
