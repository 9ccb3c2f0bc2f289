// `npm run supervisors`: real supervisors stop a real service under auto mode with a request in flight. A row is kept when
// that request is answered whole, none of those that come meanwhile is lost, and the record says `drained`. Installs
// pm2 where it is missing. Leaves no daemon behind.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { setTimeout as delay } from "node:timers/promises";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, "tools/supervisors");
const AUTO = pathToFileURL(path.join(root, "packages/lastcall/dist/src/auto.js")).href;
const scratch = mkdtempSync(path.join(tmpdir(), "lastcall-supervisors-"));
const recordFile = path.join(scratch, "records");

if (!existsSync(path.join(folder, "node_modules"))) {
  const done = spawnSync("npm", ["ci", "--no-fund", "--no-audit"], { cwd: folder, stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function ask(port, url) {
  return new Promise((resolve) => {
    const request = http.get({ host: "127.0.0.1", port, path: url, agent: false }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode));
      response.once("error", () => resolve("cut"));
    });
    request.once("error", (error) => resolve(error.code));
  });
}

const records = () =>
  existsSync(recordFile)
    ? readFileSync(recordFile, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];

/** Resolves when the command has ended. */
async function pm2(...args) {
  const child = spawn(process.execPath, [path.join(folder, "node_modules/pm2/bin/pm2"), ...args], {
    stdio: "ignore",
    env: { PATH: process.env.PATH, HOME: scratch, PM2_HOME: path.join(scratch, "pm2"), CI: "1" },
    timeout: 60_000,
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`pm2 ${args.join(" ")} ended with ${code}`);
}

/** Starts the service, stops or reloads it with a request in flight, and keeps asking meanwhile. */
async function pm2Row({ mode, instances, command, ...more }) {
  const port = await freePort();
  rmSync(recordFile, { force: true });
  const config = path.join(scratch, "ecosystem.config.json");
  const app = {
    name: "service",
    script: path.join(folder, "service.cjs"),
    node_args: `--import ${AUTO}`,
    exec_mode: mode,
    instances,
    wait_ready: true,
    listen_timeout: 30_000,
    kill_timeout: 8000,
    env: { PORT: String(port), LASTCALL_RECORD_FILE: recordFile },
    ...more,
  };
  writeFileSync(config, JSON.stringify({ apps: [app] }));
  try {
    await pm2("start", config);
    const slow = ask(port, "/slow");
    await ask(port, "/");
    const through = new AbortController();
    const answers = {};
    const others = (async () => {
      while (!through.signal.aborted) {
        const answer = await ask(port, "/");
        answers[answer] = (answers[answer] ?? 0) + 1;
        await delay(5);
      }
    })();
    const done = pm2(command, "service");
    const answer = await slow;
    await done;
    through.abort();
    await others;
    return { slow: answer, answers, records: records() };
  } finally {
    await pm2("delete", "all");
  }
}

const ROWS = [
  { name: "pm2 stop, fork mode", mode: "fork", instances: 1, command: "stop", records: 1 },
  {
    name: "pm2 stop by message",
    mode: "fork",
    instances: 1,
    command: "stop",
    shutdown_with_message: true,
    records: 1,
  },
  {
    name: "pm2 reload, cluster of 2",
    mode: "cluster",
    instances: 2,
    command: "reload",
    records: 2,
    lossless: true,
  },
];
let broken = 0;
console.log(`${"case".padEnd(26)} node       in flight  meanwhile                 records`);
try {
  for (const { name, records: expected, lossless, ...row } of ROWS) {
    const seen = await pm2Row(row);
    const outcomes = seen.records.map(({ outcome, signal, why }) => `${outcome} (${signal ?? why})`);
    const lost = Object.keys(seen.answers).filter((answer) => answer !== "200" && answer !== "ECONNREFUSED");
    const isKept =
      seen.slow === 200 &&
      lost.length === 0 &&
      (!lossless || Object.keys(seen.answers).join() === "200") &&
      seen.records.length === expected &&
      seen.records.every(({ outcome }) => outcome === "drained");
    broken += isKept ? 0 : 1;
    console.log(
      `${name.padEnd(26)} ${process.version.padEnd(10)} ${String(seen.slow).padEnd(10)} ${JSON.stringify(seen.answers).padEnd(25)} ${outcomes.join(", ")}  ${isKept ? "kept" : "BROKEN"}`,
    );
  }
} finally {
  await pm2("kill");
  rmSync(scratch, { recursive: true, force: true });
}
console.log(broken === 0 ? "every row kept" : `${broken} broken`);
process.exit(broken === 0 ? 0 : 1);
