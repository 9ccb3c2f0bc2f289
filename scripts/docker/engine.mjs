// A Docker engine of one's own: in network, mount and process namespaces that end with it, so that nothing of it can stay on
// the machine. `enclose` runs a program in such namespaces, `startEngine` starts the engine inside.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import path from "node:path";
import { until } from "../show.mjs";

/** dash as PID 1 of the namespace reaps what the engine leaves. */
const INSIDE = 'ip link set lo up && "$@"; exit $?';
const OWN = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];

/** Runs the command in namespaces of its own, passes a Ctrl-C on as their end, and resolves with the exit code. */
export async function enclose(command, scratch) {
  const child = spawn("unshare", [...OWN, "/bin/sh", "-c", INSIDE, "sh", ...command], { stdio: "inherit" });
  const stop = () => child.kill("SIGKILL");
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  const [code] = await once(child, "exit");
  removeCgroups(path.basename(scratch));
  rmSync(scratch, { recursive: true, force: true });
  return code ?? 130;
}

/** Docker makes one per controller under the parent that we name, and leaves the parent. */
function removeCgroups(name) {
  const mounted = "/sys/fs/cgroup";
  const roots = existsSync(mounted) ? readdirSync(mounted).map((entry) => path.join(mounted, entry)) : [];
  for (const root of [mounted, ...roots]) {
    removeTree(path.join(root, name));
  }
}

function removeTree(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(path.join(folder, entry.name));
  }
  rmdirSync(folder);
}

/** Runs docker; throws with what it said when it fails, unless `mayFail`. */
export class Engine {
  #scratch;
  #child;
  #env;

  constructor(scratch, child, socket) {
    this.#scratch = scratch;
    this.#child = child;
    this.#env = {
      PATH: process.env.PATH,
      HOME: scratch,
      DOCKER_HOST: `unix://${socket}`,
      DOCKER_BUILDKIT: "0",
    };
  }

  get scratch() {
    return this.#scratch;
  }

  run(program, args, { input, mayFail = false } = {}) {
    const done = spawnSync(program, args, { encoding: "utf8", env: this.#env, input, maxBuffer: 1e8 });
    if (done.status !== 0 && !mayFail) {
      throw new Error(`${program} ${args.join(" ")} ended with ${done.status}: ${done.stderr}`);
    }
    return done;
  }

  docker(args, options) {
    return this.run("docker", args, options).stdout.trim();
  }

  /** Resolves when it has ended; meanwhile this program goes on. */
  async later(program, args) {
    const child = spawn(program, args, { stdio: "ignore", env: this.#env });
    const [code] = await once(child, "exit");
    return code;
  }

  async stop() {
    this.#child.kill("SIGTERM");
    await once(this.#child, "exit");
  }
}

export async function startEngine(scratch) {
  const socket = path.join(scratch, "docker.sock");
  mkdirSync(path.join(scratch, "data"), { recursive: true });
  const flags = {
    "--data-root": path.join(scratch, "data"),
    "--exec-root": path.join(scratch, "exec"),
    "--pidfile": path.join(scratch, "dockerd.pid"),
    "--host": `unix://${socket}`,
    "--storage-driver": "overlay2",
    "--cgroup-parent": `/${path.basename(scratch)}`,
  };
  const child = spawn("dockerd", Object.entries(flags).flat(), { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said = (said + text).slice(-4000)));
  const engine = new Engine(scratch, child, socket);
  await until("the Docker engine", () => {
    if (child.exitCode !== null) throw new Error(`dockerd ended with ${child.exitCode}: ${said}`);
    return engine.run("docker", ["version"], { mayFail: true }).status === 0;
  });
  return engine;
}
