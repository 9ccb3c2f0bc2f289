// A real systemd as PID 1 of a container, by systemd-nspawn: its root is made once by debootstrap and kept in the user's
// cache; each run works on an overlay of it, which goes with the run. Nothing of it is left: no mount, no process, no cgroup.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const CACHE = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"), "lastcall");
const ROOT = path.join(CACHE, "bookworm-systemd");

/** Why no container can be started here, or null. */
export function whyNot() {
  if (process.platform !== "linux" || process.getuid() !== 0) return "it needs root on Linux";
  const missing = ["systemd-nspawn", "debootstrap", "nsenter"].filter(
    (name) => spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0,
  );
  return missing.length === 0
    ? null
    : `${missing.join(", ")} missing: apt-get install systemd-container debootstrap util-linux`;
}

function must(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: "utf8", ...options });
  if (done.status !== 0) {
    throw new Error(`${command} ${args.join(" ")}: ${done.error?.message ?? `${done.stdout}${done.stderr}`}`);
  }
  return done.stdout;
}

function makeRoot() {
  if (existsSync(ROOT)) return;
  console.error("making the root of the container, once: about two minutes");
  mkdirSync(CACHE, { recursive: true });
  const half = mkdtempSync(`${ROOT}-`);
  try {
    must("debootstrap", ["--variant=minbase", "--include=systemd,systemd-sysv,dbus", "bookworm", half], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    renameSync(half, ROOT);
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    throw error;
  }
}

/** Node and what it is linked with; all else is the container's own. */
function installNode(root) {
  const node = process.execPath;
  const libraries = must("ldd", [node]).match(/\/\S+/g) ?? [];
  for (const library of libraries) {
    const at = path.join(root, library);
    if (!existsSync(at)) {
      mkdirSync(path.dirname(at), { recursive: true });
      copyFileSync(library, at);
    }
  }
  copyFileSync(node, path.join(root, "usr/bin/node"));
}

function childrenOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  } catch {
    return [];
  }
}

/** The cgroups that nspawn puts below our own: it leaves two empty ones behind. */
function ownCgroups() {
  return readFileSync("/proc/self/cgroup", "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(":"))
    .map(([, controllers, at]) =>
      controllers === ""
        ? ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map((base) => path.join(base, at))
        : [path.join("/sys/fs/cgroup", controllers.replace("name=", ""), at)],
    )
    .flat()
    .flatMap((at) => ["payload", "supervisor"].map((name) => path.join(at, name)));
}

function removeCgroup(at) {
  if (!existsSync(at)) return;
  for (const name of readdirSync(at)) {
    const below = path.join(at, name);
    if (statSync(below).isDirectory()) removeCgroup(below);
  }
  try {
    rmdirSync(at);
  } catch (error) {
    console.error(`the cgroup ${at} stays: ${error.message}`);
  }
}

/** Boots; `files` are written below the root before, `binds` are folders that the container may read. */
export async function boot({ files, binds }) {
  makeRoot();
  const scratch = mkdtempSync(path.join(tmpdir(), "lastcall-systemd-"));
  const [upper, work, root] = ["upper", "work", "root"].map((name) => path.join(scratch, name));
  [upper, work, root].forEach((at) => mkdirSync(at));
  const before = new Set(ownCgroups().filter((at) => existsSync(at)));
  must("mount", [
    "-t",
    "overlay",
    "overlay",
    "-o",
    `lowerdir=${ROOT},upperdir=${upper},workdir=${work}`,
    root,
  ]);
  let container = null;
  const end = async () => {
    if (container !== null && container.exitCode === null && container.signalCode === null) {
      const closed = once(container, "close");
      // nspawn has the container's systemd power off.
      container.kill("SIGTERM");
      await Promise.race([closed, delay(20_000, undefined, { ref: false })]);
      if (container.exitCode === null && container.signalCode === null) {
        container.kill("SIGKILL");
        await closed;
      }
    }
    must("umount", [root]);
    rmSync(scratch, { recursive: true, force: true });
    ownCgroups()
      .filter((at) => !before.has(at))
      .forEach(removeCgroup);
  };
  try {
    installNode(root);
    for (const [name, text] of Object.entries(files)) {
      const at = path.join(root, name);
      mkdirSync(path.dirname(at), { recursive: true });
      writeFileSync(at, text);
    }
    container = spawn(
      "systemd-nspawn",
      [
        "--boot",
        "-D",
        root,
        `--machine=lastcall-${process.pid}`,
        "--register=no",
        "--keep-unit",
        "--private-network",
        "--console=pipe",
        ...Object.entries(binds).map(([outside, inside]) => `--bind-ro=${outside}:${inside}`),
        "systemd.unified_cgroup_hierarchy=0",
      ],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    let output = "";
    container.stdout.setEncoding("utf8").on("data", (part) => {
      output += part;
    });
    container.stderr.setEncoding("utf8").on("data", (part) => {
      output += part;
    });
    const inside = await leader(container, () => output);
    return { ...inside, end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** The container's PID 1, once its systemd answers. */
async function leader(container, output) {
  const giveUpAt = performance.now() + 60_000;
  while (performance.now() < giveUpAt) {
    if (container.exitCode !== null)
      throw new Error(`systemd-nspawn ended with ${container.exitCode}: ${output()}`);
    const [pid] = childrenOf(container.pid);
    if (pid !== undefined) {
      const enter = ["nsenter", "-t", pid, "-a"];
      const asked = spawnSync(enter[0], [...enter.slice(1), "systemctl", "is-system-running"], {
        encoding: "utf8",
      });
      if (/^(running|degraded)/.test(asked.stdout ?? "")) {
        const systemctl = (...args) => {
          const done = spawnSync(enter[0], [...enter.slice(1), "systemctl", ...args], { encoding: "utf8" });
          return { code: done.status, text: done.stdout.trim(), error: done.stderr.trim() };
        };
        /** The same, and other things go on meanwhile. */
        const systemctlAsync = async (...args) => {
          const child = spawn(enter[0], [...enter.slice(1), "systemctl", ...args], { stdio: "ignore" });
          const [code] = await once(child, "close");
          return code;
        };
        return {
          systemctl,
          systemctlAsync,
          show: (unit, property) => systemctl("show", `--property=${property}`, "--value", unit).text,
          /** What the unit has said since it was started last. */
          journal: (unit) => {
            const id = systemctl("show", "--property=InvocationID", "--value", unit).text;
            return spawnSync(
              enter[0],
              [...enter.slice(1), "journalctl", `_SYSTEMD_INVOCATION_ID=${id}`, "-o", "cat", "--no-pager"],
              { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
            ).stdout;
          },
          /** Runs a program of ours in the container's network alone. */
          inNetwork: ["nsenter", "-t", pid, "-n"],
        };
      }
    }
    await delay(200);
  }
  throw new Error(`systemd did not come up within 60 s: ${output()}`);
}
