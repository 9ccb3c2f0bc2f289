// The Docker engines of a swarm, each with folders of its own: the first where we are, another in a network namespace of its own,
// joined to it by a cable.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** How the two nodes see each other. */
export const ADDRESSES = { n1: "10.98.0.1", n2: "10.98.0.2" };

/** `checkpoint` throws when the run was interrupted. */
export function createEngines(home, checkpoint) {
  const started = [];
  const at = (...parts) => path.join(home, ...parts);
  const socketOf = (node) => `unix://${at(node, "docker.sock")}`;

  function docker(node, ...args) {
    return execFileSync("docker", ["-H", socketOf(node), ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 120_000,
    }).trim();
  }

  async function start(node, apart) {
    mkdirSync(at(node), { recursive: true });
    const flags = Object.entries({
      "--data-root": at(node, "data"),
      "--exec-root": at(node, "exec"),
      "--pidfile": at(node, "pid"),
      "--host": socketOf(node),
      "--storage-driver": "overlay2",
      "--cgroup-parent": `lastcall-${node}`,
    }).flat();
    const mounts = apart ? "mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs /var/lib; " : "";
    const shell = `hostname ${node}; ${mounts}ip link set lo up; exec dockerd "$@" > ${at(node, "log")} 2>&1`;
    const command = [
      ...(apart ? "unshare --net --mount --uts --propagation private".split(" ") : []),
      "sh",
      "-c",
      shell,
      "sh",
      ...flags,
    ];
    const child = spawn(command[0], command.slice(1), { stdio: "ignore", detached: true });
    started.push({ node, child });
    if (apart) {
      await delay(300);
      layCable(String(child.pid));
    }
    for (let tries = 0; ; tries += 1) {
      checkpoint();
      if (spawnSync("docker", ["-H", socketOf(node), "version"], { stdio: "ignore" }).status === 0) return;
      if (tries > 150 || child.exitCode !== null) {
        throw new Error(
          `the engine of ${node} did not start:\n${readFileSync(at(node, "log"), "utf8").slice(-800)}`,
        );
      }
      await delay(200);
    }
  }

  async function stop() {
    for (const { node } of started.toReversed()) {
      spawnSync("docker", ["-H", socketOf(node), "swarm", "leave", "--force"], { stdio: "ignore" });
    }
    for (const { node, child } of started.toReversed()) {
      const pid = existsSync(at(node, "pid")) ? Number(readFileSync(at(node, "pid"), "utf8")) : child.pid;
      const gone =
        child.exitCode === null && child.signalCode === null ? once(child, "exit") : Promise.resolve();
      try {
        process.kill(pid, "SIGTERM");
      } catch {
        // It has ended already.
      }
      await Promise.race([gone, delay(15_000)]);
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, "SIGKILL");
    }
  }

  return { docker, socketOf, start, stop };
}

/** From here to the network namespace of a process. */
function layCable(pid) {
  const run = (line) => {
    const [program, ...args] = line.split(" ");
    execFileSync(program, args);
  };
  run("ip link add w0 type veth peer name w1");
  run(`ip link set w1 netns ${pid}`);
  run(`ip addr add ${ADDRESSES.n1}/24 dev w0`);
  run("ip link set w0 up");
  run(`nsenter -t ${pid} -n ip addr add ${ADDRESSES.n2}/24 dev w1`);
  run(`nsenter -t ${pid} -n ip link set w1 up`);
}
