// `npm run swarm` runs its own file again as the first process of namespaces of its own: nothing of it can stay when that
// process ends, and the machine's iptables, mounts and engine are not touched.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** They end with their first process. */
const OWN = "--net --mount --uts --pid --fork --mount-proc --kill-child --propagation private".split(" ");
const PROGRAMS = ["dockerd", "docker", "haproxy", "bash", "unshare", "nsenter", "ip", "tar", "ldd"];

/** The scratch folder, inside the namespaces; undefined outside. */
export const home = process.env.LASTCALL_SWARM_HOME;

/** Checks what is needed, makes the scratch folder, runs this program in namespaces, and removes the folder at the end. */
export function enterNamespaces() {
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  const missing = PROGRAMS.filter(
    (program) => spawnSync("sh", ["-c", 'command -v "$1"', "sh", program], { env }).status !== 0,
  );
  if (process.platform !== "linux" || process.getuid() !== 0 || missing.length > 0) {
    const why = missing.length > 0 ? `missing: ${missing.join(", ")}` : "it takes Linux and root";
    console.error(`npm run swarm cannot run here (${why}).`);
    console.error("On Debian: apt-get install docker.io haproxy iproute2 util-linux");
    process.exit(3);
  }
  const folder = mkdtempSync(path.join(tmpdir(), "lastcall-swarm-"));
  const child = spawn("unshare", [...OWN, process.execPath, ...process.argv.slice(1)], {
    stdio: "inherit",
    env: { ...env, LASTCALL_SWARM_HOME: folder },
  });
  // A terminal's Ctrl-C reaches the inside as well, which then ends in order; if it does not, everything in it is killed.
  const kill = () => child.kill("SIGKILL");
  process.on("SIGINT", () => setTimeout(kill, 30_000).unref());
  process.on("SIGTERM", kill);
  child.on("close", (code) => {
    removeCgroups("lastcall-n1", "lastcall-n2");
    rmSync(folder, { recursive: true, force: true });
    process.exit(code ?? 130);
  });
}

/** Docker makes a group for each controller under the parent that we name, and leaves the parent. */
function removeCgroups(...names) {
  const top = "/sys/fs/cgroup";
  for (const name of names) {
    spawnSync("find", [top, "-depth", "-path", `*/${name}*`, "-type", "d", "-exec", "rmdir", "{}", "+"]);
  }
}
