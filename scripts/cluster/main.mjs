// `npm run cluster`: workers are replaced one after the other, by SIGTERM, the new one first, while every request comes on a
// connection of its own. A row is kept when none of at least 10,000 connections is lost over at least 20 replacements. The
// controls must lose some. Rows about the kernel's setting run in a network namespace of their own and need root.
// Usage: node scripts/cluster/main.mjs [--node PATH]... [WORD of a row's name]...
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { answers, ask, freePort, recordsIn, Show, until, versionOf } from "../show.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const AUTO = pathToFileURL(path.join(here, "../../packages/lastcall/dist/src/auto.js")).href;
const ENOUGH = { connections: 10_000, replacements: 20 };
const ENOUGH_TO_LOSE = { connections: 500, replacements: 8 };
const CLIENTS = 16;

const ROWS = [
  { name: "round robin", sharing: "round robin" },
  { name: "shared handle", sharing: "shared handle" },
  { name: "reusePort, the kernel hands over: silent", sharing: "reusePort", migrates: 1 },
  { name: "reusePort, the kernel does not: refused with its reason", sharing: "reusePort", migrates: 0 },
  { name: "control: round robin, SIGKILL", sharing: "round robin", signal: "SIGKILL", control: true },
  { name: "worker threads, one budget", threads: true },
];

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string", multiple: true }, inside: { type: "string" } },
});

/** Starts the program under auto mode; what it says on both streams. */
function start(node, file, args, port) {
  const child = spawn(node, ["--import", AUTO, path.join(here, file), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, PORT: String(port), LASTCALL_GRACE_PERIOD: "20s" },
  });
  // Whatever happens here, it does not outlive us; workers leave with their primary.
  process.once("exit", () => child.kill("SIGKILL"));
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
  }
  return { child, said, closed: once(child, "close") };
}

const has = (child, said, pattern, count = 1) =>
  until(
    `${pattern} of it`,
    () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${said.stderr}`);
      return (said.stdout.match(pattern)?.length ?? 0) >= count;
    },
    120_000,
  );

async function replaceUnderLoad(node, { sharing, signal = "SIGTERM", control }) {
  const port = await freePort();
  const { child, said, closed } = start(node, "app.mjs", [sharing, signal], port);
  await has(child, said, /ready/g);
  await answers(port);
  const through = new AbortController();
  const seen = {};
  let connections = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!through.signal.aborted) {
      const answer = await ask(port, "/");
      connections += 1;
      seen[answer] = (seen[answer] ?? 0) + 1;
    }
  });
  let rounds = 0;
  const enough = control ? ENOUGH_TO_LOSE : ENOUGH;
  const isEnough = () => connections >= enough.connections && rounds * 2 >= enough.replacements;
  while (!isEnough()) {
    child.kill("SIGUSR2");
    rounds += 1;
    await has(child, said, /replaced/g, rounds);
  }
  through.abort();
  await Promise.all(clients);
  child.kill("SIGTERM");
  const [code] = await closed;
  const lost = connections - (seen[200] ?? 0);
  return { lost, connections, replacements: rounds * 2, seen, code, warned: said.stderr };
}

async function stopThreads(node) {
  const { child, said, closed } = start(node, "threads.mjs", [], 0);
  await has(child, said, /listening \d+/g, 2);
  const ports = [...said.stdout.matchAll(/listening (\d+)/g)].map(([, port]) => Number(port));
  const slow = Promise.all(ports.map((port) => ask(port, "/slow")));
  await Promise.all(ports.map((port) => ask(port, "/")));
  child.kill("SIGTERM");
  const inFlight = await slow;
  const [code] = await closed;
  return { inFlight, code, records: recordsIn(said.stderr).map(({ outcome }) => outcome) };
}

function judge(row, seen) {
  const wrong = [];
  const must = (isSo, what) => void (isSo || wrong.push(what));
  must(seen.code === 0, `exit code ${seen.code}`);
  if (row.threads) {
    must(seen.inFlight.join() === "200,200", `in flight: ${seen.inFlight}`);
    must(seen.records.join() === "drained,drained,drained", `records: ${seen.records}`);
    return wrong;
  }
  const isWarned = /LASTCALL_REUSE_PORT/.test(seen.warned);
  must(isWarned === (row.migrates === 0), isWarned ? "it warned" : "it did not warn");
  if (row.control) {
    must(seen.lost > 0, "the control lost nothing: the load is too small to see a loss");
  } else if (row.migrates !== 0) {
    must(seen.lost === 0, `lost: ${JSON.stringify(seen.seen)}`);
  }
  return wrong;
}

function describe(row, seen) {
  return row.threads
    ? `in flight: ${seen.inFlight.join(", ")}; records ${seen.records.join(", ")}; exit ${seen.code}`
    : `${seen.lost} of ${seen.connections} connections lost over ${seen.replacements} replacements`;
}

/** The row in a network namespace in which the setting can be ours. */
async function runEnclosed(node, row) {
  const inside = `ip link set lo up && echo ${row.migrates} > /proc/sys/net/ipv4/tcp_migrate_req && exec "$@"`;
  const command = [process.execPath, fileURLToPath(import.meta.url), "--inside", row.name, "--node", node];
  const child = spawn(
    "unshare",
    ["--net", "--kill-child", "--fork", "/bin/sh", "-c", inside, "sh", ...command],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more) => (text += more));
  await once(child, "close");
  return JSON.parse(text);
}

if (values.inside === undefined) {
  const rows = ROWS.filter(({ name }) => words.every((word) => name.includes(word)));
  const show = new Show(rows.map(({ name }) => name));
  for (const node of values.node ?? [process.execPath]) {
    const version = versionOf(node);
    for (const row of rows) {
      if (row.sharing === "reusePort" && Number(version.slice(1).split(".")[0]) < 22) {
        show.row(row.name, version, "this Node has no reusePort", []);
        continue;
      }
      const run = row.threads ? stopThreads : row.migrates === undefined ? replaceUnderLoad : runEnclosed;
      const seen = await run(node, row);
      show.row(row.name, version, describe(row, seen), judge(row, seen));
    }
  }
  process.exitCode = show.end();
} else {
  const seen = await replaceUnderLoad(
    values.node[0],
    ROWS.find(({ name }) => name === values.inside),
  );
  process.stdout.write(JSON.stringify(seen));
}
