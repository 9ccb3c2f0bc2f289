// `npm run swarm`: a real Docker Swarm updates a real service under load, with lastcall and without, on one node and with
// one of two nodes drained, behind a HAProxy that finds the tasks by Docker's DNS. Everything runs in network and mount
// namespaces of its own (the machine's iptables and its own engine stay as they are) and is removed at the end, also after
// Ctrl-C. Needs Linux, root, docker.io, haproxy and iproute2. `LASTCALL_SWARM_KEEP=FOLDER` keeps the
// ledgers and reports. Exit 1 when a row does not show what it must.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const lastcall = path.join(root, "packages/lab/bin/lastcall.js");
const PORT = 18_900;
const RATE = 40;
const only = process.argv.slice(2);

const ROWS = [
  { name: "usual-update", title: "usual stop, update", build: "naive", nodes: 1, replicas: 3, loses: true },
  {
    name: "lastcall-update",
    title: "lastcall, update",
    build: "lastcall",
    nodes: 1,
    replicas: 3,
    loses: false,
  },
  {
    name: "usual-drain",
    title: "usual stop, node drained",
    build: "naive",
    nodes: 2,
    replicas: 4,
    loses: true,
  },
  {
    name: "lastcall-drain",
    title: "lastcall, node drained",
    build: "lastcall",
    nodes: 2,
    replicas: 4,
    loses: false,
  },
].filter(({ name }) => only.length === 0 || only.includes(name));

/** Namespaces that end with their first process: nothing of it can stay. */
const OWN = "--net --mount --uts --pid --fork --mount-proc --kill-child --propagation private".split(" ");

if (process.env.LASTCALL_SWARM_HOME === undefined) {
  outside();
} else {
  await inside(process.env.LASTCALL_SWARM_HOME);
}

/** Checks what is needed, makes the scratch folder, and runs this file again in namespaces; removes the folder at the end. */
function outside() {
  const missing = ["dockerd", "docker", "haproxy", "bash", "unshare", "nsenter", "ip", "tar", "ldd"].filter(
    (program) => spawnSync("sh", ["-c", 'command -v "$1"', "sh", program], { env: withSbin() }).status !== 0,
  );
  if (process.platform !== "linux" || process.getuid() !== 0 || missing.length > 0) {
    const why = missing.length > 0 ? `missing: ${missing.join(", ")}` : "it takes Linux and root";
    console.error(`npm run swarm cannot run here (${why}).`);
    console.error("On Debian: apt-get install docker.io haproxy iproute2 util-linux");
    process.exit(3);
  }
  const home = mkdtempSync(path.join(tmpdir(), "lastcall-swarm-"));
  const child = spawn("unshare", [...OWN, process.execPath, ...process.argv.slice(1)], {
    stdio: "inherit",
    env: { ...withSbin(), LASTCALL_SWARM_HOME: home },
  });
  // A terminal's Ctrl-C reaches the inside as well, which then ends in order; if it does not, everything in it is killed.
  const kill = () => child.kill("SIGKILL");
  process.on("SIGINT", () => setTimeout(kill, 30_000).unref());
  process.on("SIGTERM", kill);
  child.on("close", (code) => {
    removeCgroups("lastcall-n1", "lastcall-n2");
    rmSync(home, { recursive: true, force: true });
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

function withSbin() {
  return { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
}

async function inside(home) {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => interrupted.abort());
  const at = (...parts) => path.join(home, ...parts);
  const engines = [];
  const results = [];
  let code = 0;
  const checkpoint = () => {
    if (interrupted.signal.aborted) throw new Error("interrupted");
  };
  const docker = (node, ...args) =>
    execFileSync("docker", ["-H", `unix://${at(node, "docker.sock")}`, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 120_000,
    }).trim();

  /** A Docker engine with folders of its own; the second one in a network namespace of its own, joined by a cable. */
  async function startEngine(node, apart) {
    mkdirSync(at(node), { recursive: true });
    const flags = [
      "--data-root",
      at(node, "data"),
      "--exec-root",
      at(node, "exec"),
      "--pidfile",
      at(node, "pid"),
      "-H",
      `unix://${at(node, "docker.sock")}`,
      "--storage-driver",
      "overlay2",
      "--cgroup-parent",
      `lastcall-${node}`,
    ];
    const shell = `hostname ${node}; ${apart ? "mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs /var/lib; " : ""}ip link set lo up; exec dockerd "$@" > ${at(node, "log")} 2>&1`;
    const command = apart
      ? [
          "unshare",
          "--net",
          "--mount",
          "--uts",
          "--propagation",
          "private",
          "sh",
          "-c",
          shell,
          "sh",
          ...flags,
        ]
      : ["sh", "-c", shell, "sh", ...flags];
    const child = spawn(command[0], command.slice(1), { stdio: "ignore", detached: true });
    engines.push({ node, child });
    if (apart) {
      await delay(300);
      const run = (...args) => execFileSync(args[0], args.slice(1));
      run("ip", "link", "add", "w0", "type", "veth", "peer", "name", "w1");
      run("ip", "link", "set", "w1", "netns", String(child.pid));
      run("ip", "addr", "add", "10.98.0.1/24", "dev", "w0");
      run("ip", "link", "set", "w0", "up");
      run("nsenter", "-t", String(child.pid), "-n", "ip", "addr", "add", "10.98.0.2/24", "dev", "w1");
      run("nsenter", "-t", String(child.pid), "-n", "ip", "link", "set", "w1", "up");
    }
    for (let tries = 0; ; tries += 1) {
      checkpoint();
      const seen = spawnSync("docker", ["-H", `unix://${at(node, "docker.sock")}`, "version"], {
        stdio: "ignore",
      });
      if (seen.status === 0) return;
      if (tries > 150 || child.exitCode !== null) {
        throw new Error(
          `the engine of ${node} did not start:\n${readFileSync(at(node, "log"), "utf8").slice(-800)}`,
        );
      }
      await delay(200);
    }
  }

  /** A root folder out of this machine's own programs and their libraries: no registry is asked. */
  function copyProgram(into, program) {
    const from = execFileSync("sh", ["-c", 'command -v "$1"', "sh", program], { encoding: "utf8" }).trim();
    mkdirSync(path.join(into, "usr/bin"), { recursive: true });
    cpSync(from, path.join(into, "usr/bin", path.basename(program)), { dereference: true });
    const libraries = spawnSync("ldd", [from], { encoding: "utf8" }).stdout.match(/\/[^ )]+/g) ?? [];
    for (const library of libraries) {
      mkdirSync(path.dirname(path.join(into, library)), { recursive: true });
      cpSync(library, path.join(into, library), { dereference: true });
    }
  }

  function makeImages() {
    const orders = at("orders");
    copyProgram(orders, process.execPath);
    copyProgram(orders, "bash");
    for (const folder of ["bin", "tmp", "etc", "proc", "sys", "dev"]) {
      mkdirSync(path.join(orders, folder), { recursive: true });
    }
    symlinkSync("/usr/bin/bash", path.join(orders, "bin/sh"));
    // Asked twice a second by each task: a whole Node for it would be a load of its own.
    const ask =
      'exec 3<>/dev/tcp/127.0.0.1/9001; printf "GET /ready HTTP/1.0\\r\\n\\r\\n" >&3; read -r _ status _ <&3; [ "$status" = 200 ]';
    writeFileSync(path.join(orders, "usr/bin/ask-ready"), `#!/usr/bin/bash\n${ask}\n`, { mode: 0o755 });
    for (const folder of ["packages/lastcall", "examples/orders"]) {
      cpSync(path.join(root, folder, "dist/src"), path.join(orders, "srv", folder, "dist/src"), {
        recursive: true,
      });
      cpSync(path.join(root, folder, "package.json"), path.join(orders, "srv", folder, "package.json"));
    }
    mkdirSync(path.join(orders, "srv/node_modules"));
    symlinkSync("../packages/lastcall", path.join(orders, "srv/node_modules/lastcall"));
    const router = at("haproxy");
    copyProgram(router, "haproxy");
    for (const folder of ["etc", "tmp", "proc", "sys", "dev"])
      mkdirSync(path.join(router, folder), { recursive: true });
    writeFileSync(
      path.join(router, "etc/haproxy.cfg"),
      `global
  maxconn 2000
defaults
  mode http
  timeout connect 1s
  timeout client 10s
  timeout server 10s
  retries 0
resolvers docker
  nameserver dns 127.0.0.11:53
  # Swarm takes a task out of its DNS 2 s before it sends SIGTERM: a router that looks every second loses nothing to it.
  # Docker's answers may be kept for 600 s, and most routers keep them for some.
  hold valid 10s
  timeout resolve 10s
frontend front
  bind :8000
  default_backend tasks
backend tasks
  option httpchk GET /ready
  option http-server-close
  timeout check 2s
  default-server check inter 500ms fall 3 rise 1 resolvers docker init-addr none
  server-template task 8 web:9001
`,
    );
  }

  function importImages(node) {
    const into = (folder, changes, tag) =>
      execFileSync("sh", [
        "-c",
        `tar -C "$1" -c . | docker -H "unix://${at(node, "docker.sock")}" import ${changes} - ${tag} > /dev/null`,
        "sh",
        at(folder),
      ]);
    const orders = `-c 'ENV PATH=/usr/bin:/bin' -c 'ENTRYPOINT ["node","/srv/examples/orders/dist/src/server.js"]'`;
    into("orders", orders, "orders:1");
    into("haproxy", `-c 'CMD ["/usr/bin/haproxy","-db","-f","/etc/haproxy.cfg"]'`, "haproxy:1");
  }

  async function until(what, condition) {
    for (let tries = 0; tries < 200; tries += 1) {
      checkpoint();
      if (await condition()) return;
      await delay(200);
    }
    throw new Error(`${what} did not happen within 40 s`);
  }

  const answers = async () => {
    try {
      return (await fetch(`http://127.0.0.1:${PORT}/ready`, { signal: AbortSignal.timeout(1000) })).ok;
    } catch {
      return false;
    }
  };

  async function play({ name, title, build, nodes, replicas, loses }) {
    console.log(`\n== ${title}: ${replicas} tasks on ${nodes === 1 ? "one node" : "two nodes"}`);
    const shared = at("shared", name);
    mkdirSync(shared, { recursive: true });
    const said =
      build === "lastcall"
        ? "--drain-delay 4s --grace-period 14s --graceful-timeout 7s --teardown-timeout 1s".split(" ")
        : [];
    docker(
      "n1",
      ...`service create --quiet --detach --name web --replicas ${replicas} --network tasks --endpoint-mode dnsrr`.split(
        " ",
      ),
      ..."--stop-grace-period 15s --update-order start-first --update-parallelism 1 --update-delay 8s".split(
        " ",
      ),
      ..."--health-cmd ask-ready --health-interval 2s --health-timeout 10s --health-retries 5".split(" "),
      ..."--no-resolve-image --env COPY={{.Task.Name}} --env LASTCALL_EXECUTED=/shared/executed".split(" "),
      "--mount",
      `type=bind,source=${shared},target=/shared`,
      "orders:1",
      ...`--build ${build} --host 0.0.0.0 --port 9001 --db /tmp/orders.db`.split(" "),
      ...said,
    );
    docker(
      "n1",
      "run",
      "--detach",
      "--name",
      "router",
      "--network",
      "tasks",
      "--publish",
      `127.0.0.1:${PORT}:8000`,
      "haproxy:1",
    );
    try {
      await until("the first answer through HAProxy", answers);
      await until(
        "all tasks running",
        () =>
          docker(
            "n1",
            "service",
            "ps",
            "web",
            "--filter",
            "desired-state=running",
            "--format",
            "{{.CurrentState}}",
          )
            .split("\n")
            .filter((state) => state.startsWith("Running")).length === replicas,
      );
      // HAProxy has asked every task once.
      await delay(2000);
      const child = spawn(
        process.execPath,
        [
          lastcall,
          "rollout",
          "--platform",
          "swarm",
          "--service",
          "web",
          "--url",
          `http://127.0.0.1:${PORT}`,
          "--get",
          "/work?seconds=0.2&id={id}",
          "--post",
          "/orders?id={id}",
          "--post-body",
          '{"id":"{id}","work":0.2}',
          "--executed",
          path.join(shared, "executed"),
          "--rate",
          String(RATE),
          "--ready-timeout",
          "60s",
          "--json",
          "--out",
          at("runs", name),
          // A drained node does not get its tasks back: that can be done once.
          ...(nodes === 1
            ? ["--attempts", "3"]
            : ["--drain-node", "n2", "--engines", `unix://${at("n2", "docker.sock")}`]),
        ],
        {
          stdio: ["ignore", "pipe", "inherit"],
          env: { ...process.env, DOCKER_HOST: `unix://${at("n1", "docker.sock")}` },
        },
      );
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
      const [exitCode] = await once(child, "close");
      checkpoint();
      if (text === "") throw new Error(`lastcall rollout ended with ${exitCode}`);
      const { rows, platform } = JSON.parse(text);
      const [row] = rows;
      const lost = row.getFailed + row.postFailed;
      const { restarts } = row.verdict;
      const stored = row.rows === row.acknowledged;
      const shown = restarts.length > 0 && (loses ? lost > 0 : lost === 0 && stored);
      const shows = row.verdict.outcome === "invalid" ? null : shown;
      results.push({ title, build, nodes, row, lost, shows, order: platform });
    } finally {
      docker("n1", "rm", "--force", "router");
      docker("n1", "service", "rm", "web");
      await delay(500);
    }
  }

  try {
    execFileSync("ip", ["link", "set", "lo", "up"]);
    makeImages();
    await startEngine("n1", false);
    importImages("n1");
    const two = ROWS.some(({ nodes }) => nodes === 2);
    if (two) {
      await startEngine("n2", true);
      importImages("n2");
    }
    const address = two ? "10.98.0.1" : "127.0.0.1";
    docker("n1", "swarm", "init", "--advertise-addr", address, "--listen-addr", `${address}:2377`);
    docker("n1", "network", "create", "--driver", "overlay", "--attachable", "tasks");
    for (const row of ROWS.filter(({ nodes }) => nodes === 1)) await play(row);
    if (two) {
      const token = docker("n1", "swarm", "join-token", "--quiet", "worker");
      docker("n2", "swarm", "join", "--token", token, "--advertise-addr", "10.98.0.2", "10.98.0.1:2377");
      for (const row of ROWS.filter(({ nodes }) => nodes === 2)) await play(row);
    }
    print();
    code = results.every(({ shows }) => shows === true)
      ? 0
      : results.some(({ shows }) => shows === false)
        ? 1
        : 4;
  } catch (error) {
    console.error(error instanceof Error ? `${error.message}\n${error.stderr ?? ""}` : error);
    if (results.length > 0) print();
    code = interrupted.signal.aborted ? 130 : 3;
  } finally {
    const keep = process.env.LASTCALL_SWARM_KEEP;
    if (keep !== undefined && existsSync(at("runs"))) cpSync(at("runs"), keep, { recursive: true });
    for (const { node } of engines.toReversed()) {
      spawnSync("docker", ["-H", `unix://${at(node, "docker.sock")}`, "swarm", "leave", "--force"], {
        stdio: "ignore",
      });
    }
    for (const { node, child } of engines.toReversed()) {
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
  process.exit(code);

  function print() {
    const columns = ["", ...results.map(({ title }) => title)];
    const seconds = (ms) => (ms === null ? "-" : `${(ms / 1000).toFixed(2)} s`);
    const lines = [
      columns,
      ["requests", ...results.map(({ row }) => String(row.sent))],
      ["lost", ...results.map(({ row, lost }) => `${lost} (${row.getFailed} GET, ${row.postFailed} POST)`)],
      [
        "why",
        ...results.map(
          ({ row }) =>
            row.verdict.kinds.map(({ count, title }) => `${count} ${title.toLowerCase()}`).join(", ") || "-",
        ),
      ],
      [
        "stored = told",
        ...results.map(({ row }) =>
          row.rows === null
            ? "?"
            : `${row.rows} = ${row.acknowledged}${row.rows === row.acknowledged ? "" : " NO"}`,
        ),
      ],
      ["tasks replaced", ...results.map(({ row }) => String(row.verdict.restarts.length))],
      ["order", ...results.map(({ order }) => order?.join(" ").replace(/^order +/, "") ?? "-")],
      [
        "exit codes",
        ...results.map(({ row }) =>
          row.verdict.restarts.map((one) => one.exitCode ?? one.exitSignal ?? "?").join(" "),
        ),
      ],
      [
        "signal to exit",
        ...results.map(({ row }) =>
          seconds(
            Math.max(...row.verdict.restarts.map((one) => (one.exitMs ?? one.signalMs) - one.signalMs)),
          ),
        ),
      ],
      ["slowest", ...results.map(({ row }) => seconds(row.slowestMs))],
      ["shows it", ...results.map(({ shows }) => (shows === null ? "invalid run" : shows ? "yes" : "NO"))],
    ];
    const widths = columns.map((_, n) => Math.max(...lines.map((line) => line[n].length)));
    console.log(
      `\nDocker Swarm, ${RATE} requests a second through HAProxy (no retries, names looked up every 10 s, out after three failed checks, 0.5 s apart)\n`,
    );
    for (const line of lines)
      console.log(
        line
          .map((text, n) => text.padEnd(widths[n]))
          .join("  ")
          .trimEnd(),
      );
  }
}
