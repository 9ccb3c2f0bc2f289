// `npm run takeover`: rolling restarts of one service on one machine under an open loop of new connections, with
// `lastcall-takeover` and without. A row is kept when nothing is lost; the controls are kept when they lose, for a load that
// sees nothing would see nothing anywhere. `--restarts 50 --rate 1000` are the defaults. A row in which this machine could not
// keep up with the rate says nothing of the takeover and is no pass: OVERLOAD. Words choose rows by their names.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { createServer } from "node:net";
import { describeLosses, startLoad } from "./load/generator.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const library = path.join(root, "packages/lastcall");
const AUTO = pathToFileURL(path.join(library, "dist/src/auto.js")).href;
const BIN = path.join(library, "bin/lastcall-takeover");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    restarts: { type: "string", default: "50" },
    rate: { type: "string", default: "1000" },
  },
});
const restarts = Number(values.restarts);
const rate = Number(values.rate);

const scratch = mkdtempSync(path.join(tmpdir(), "lastcall-takeover-"));
const plain = path.join(scratch, "app.mjs");
const explicit = path.join(scratch, "explicit.mjs");
const modeFile = path.join(scratch, "mode");
const APP = `
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
const mode = readFileSync(process.env.MODE_FILE, "utf8");
if (mode === "dies") process.exit(5);
const server = createServer((request, response) => {
  request.resume();
  const body = "pid " + process.pid + "\\n";
  response.writeHead(200, { "Content-Length": body.length });
  response.end(body);
});
`;
const listen = (then) =>
  `if (mode === "never") setInterval(() => {}, 1000);\nelse server.listen(Number(process.env.PORT), "127.0.0.1", () => {${then} console.log("serves " + process.pid); });\n`;
writeFileSync(plain, APP + listen(""));
writeFileSync(
  explicit,
  `import { createLifecycle } from ${JSON.stringify(pathToFileURL(path.join(library, "dist/src/index.js")).href)};${APP}` +
    `const life = createLifecycle();\nlife.http(server);\n${listen("life.ready();")}`,
);

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** A child whose lines can be waited for. */
function run(command, args, env) {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`,
      MODE_FILE: modeFile,
      LASTCALL_GRACE_PERIOD: "10s",
      ...env,
    },
  });
  let text = "";
  const changed = new Set();
  const read = (part) => {
    text += part;
    changed.forEach((check) => check());
  };
  child.stdout.setEncoding("utf8").on("data", read);
  child.stderr.setEncoding("utf8").on("data", read);
  const closed = once(child, "close");
  /** Resolves when the pattern has matched `count` times in all. */
  const said = (pattern, count) =>
    new Promise((resolve, reject) => {
      const check = () => {
        if ((text.match(pattern) ?? []).length >= count) {
          changed.delete(check);
          resolve();
        }
      };
      changed.add(check);
      check();
      void closed.then(() => reject(new Error(`It ended: ${text.slice(-2000)}`)));
    });
  return { child, said, closed, text: () => text };
}

async function withLoad(port, pool, work) {
  const end = await startLoad({ port, rate: pool ? Math.min(rate, 200) : rate, pool });
  const note = await work();
  return { ...(await end()), note };
}

/** How late a connection may have been started, and how long answered, on a machine that can do what is asked of it. */
const LATE_MS = 1000;
const SLOW_MS = 10_000;

/** Restarts under `lastcall-takeover`; `mode` is what the new copies do. */
async function takeover({ script, mode = "serves", times = restarts, pool = false, options = [] }) {
  writeFileSync(modeFile, "serves");
  const port = await freePort();
  const parent = run(BIN, [...options, script], { PORT: String(port) });
  await parent.said(/^serves/gm, 1);
  try {
    return await withLoad(port, pool, async () => {
      writeFileSync(modeFile, mode);
      for (let n = 1; n <= times; n += 1) {
        parent.child.kill("SIGHUP");
        await parent.said(mode === "serves" ? /has ended with exit code 0$/gm : /has ended with/gm, n);
      }
      return mode === "serves" ? "" : `${times} copies came to nothing`;
    });
  } finally {
    parent.child.kill("SIGTERM");
    const [code] = await parent.closed;
    if (code !== 0) console.error(`lastcall-takeover ended with ${code}`);
  }
}

/** The serving copy is killed while a new one starts: whoever comes meanwhile waits. */
async function killed() {
  writeFileSync(modeFile, "serves");
  const port = await freePort();
  const parent = run(BIN, [plain], { PORT: String(port) });
  await parent.said(/^serves/gm, 1);
  try {
    return await withLoad(port, false, async () => {
      for (let n = 1; n <= 5; n += 1) {
        const pid = Number(
          parent
            .text()
            .match(/^serves (\d+)$/gm)
            .at(-1)
            .split(" ")[1],
        );
        parent.child.kill("SIGHUP");
        await parent.said(/pid \d+ starts/g, n + 1);
        process.kill(pid, "SIGKILL");
        await parent.said(/^serves/gm, n + 1);
      }
      return "what a killed copy had accepted is lost";
    });
  } finally {
    parent.child.kill("SIGTERM");
    await parent.closed;
  }
}

/** No takeover: stopped, awaited, started again. */
async function control(nodeArgs) {
  writeFileSync(modeFile, "serves");
  const port = await freePort();
  const start = async () => {
    const service = run(process.execPath, [...nodeArgs, plain], { PORT: String(port) });
    await service.said(/^serves/gm, 1);
    return service;
  };
  let service = await start();
  try {
    return await withLoad(port, false, async () => {
      for (let n = 0; n < 5; n += 1) {
        service.child.kill("SIGTERM");
        await service.closed;
        service = await start();
      }
      return "";
    });
  } finally {
    service.child.kill("SIGTERM");
    await service.closed;
  }
}

const ROWS = [
  { name: "control: plain restart", times: 5, loses: true, work: () => control([]) },
  {
    name: "control: lastcall/auto, restart",
    times: 5,
    loses: true,
    work: () => control(["--import", AUTO]),
  },
  { name: "takeover, unmodified app", times: restarts, work: () => takeover({ script: plain }) },
  { name: "takeover, explicit lifecycle", times: restarts, work: () => takeover({ script: explicit }) },
  {
    name: "takeover, 64 pooled, POST",
    times: 20,
    work: () => takeover({ script: plain, pool: true, times: 20 }),
  },
  {
    name: "new copy dies at start",
    times: 10,
    work: () => takeover({ script: plain, mode: "dies", times: 10 }),
  },
  {
    name: "new copy is never ready",
    times: 3,
    work: () => takeover({ script: plain, mode: "never", times: 3, options: ["--ready-timeout", "2s"] }),
  },
  { name: "serving copy is killed", times: 5, atMost: 15, work: killed },
];

console.log(
  `Node ${process.version}, ${rate} new connections a second (pooled: ${Math.min(rate, 200)} requests)\n`,
);
console.log(`${"case".padEnd(34)}restarts      sent      lost  slowest  copies  s      result`);
let broken = 0;
let overloads = 0;
try {
  for (const { name, times, loses = false, atMost = 0, work } of ROWS.filter((row) =>
    positionals.every((word) => row.name.includes(word)),
  )) {
    const seen = await work();
    const isKept = loses ? seen.lost > 0 : seen.lost <= atMost;
    const isOverload = !isKept && !loses && (seen.latestMs > LATE_MS || seen.slowestMs > SLOW_MS);
    overloads += isOverload ? 1 : 0;
    broken += isKept || isOverload ? 0 : 1;
    const losses = describeLosses(seen);
    const note = [loses ? "must lose" : "", losses, seen.note].filter((part) => part !== "").join("; ");
    console.log(
      `${name.padEnd(34)}${String(times).padStart(8)}${String(seen.sent).padStart(10)}${String(seen.lost).padStart(10)}` +
        `${`${seen.slowestMs} ms`.padStart(9)}${String(seen.copies).padStart(8)}  ${String(seen.seconds).padEnd(6)} ${isKept ? "kept" : isOverload ? "OVERLOAD" : "BROKEN"}${note === "" ? "" : `  (${note})`}`,
    );
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const sum = [
  broken > 0 ? `${broken} broken` : "",
  overloads > 0 ? `${overloads} not judged: this machine cannot do ${rate} connections a second now` : "",
].filter(Boolean);
console.log(`\n${sum.length === 0 ? "every row kept" : sum.join(", ")}`);
process.exit(broken > 0 ? 1 : overloads > 0 ? 4 : 0);
