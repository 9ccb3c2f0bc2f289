// The load engine alone on one core, and other load tools beside it: the same server on another core, the same run, turn by turn.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { pinned, twoCores } from "./cores.mjs";
import { findTool, TOOLS } from "./load-tools.mjs";
import { measured } from "./measured.mjs";
import { median, shuffle, table } from "./stats.mjs";

const RATE = 20_000;
const LAG_MS = 10;
/** More than anybody can send on one core, over a shorter time: sent as fast as it goes. */
const TOO_MUCH = 100_000;
const SECONDS = 5;
const ROUNDS = 5;
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

const ENGINE_KEEPS = "each request's stages, connection, reuse, who closed, copy: a line of the ledger each";
const engineRun = (name, loop, rate, seconds) => ({
  name,
  loop,
  keeps: ENGINE_KEEPS,
  rate,
  words: ({ port }) => [process.execPath, file("./engine-run.mjs"), port, String(rate), String(seconds)],
  read: (out) => {
    const seen = JSON.parse(out);
    return { ...seen, p99Ms: seen.latencyMs.p99, lagP99Ms: seen.lagMs.p99 };
  },
});
const ENGINE = engineRun("lastcall", "open", RATE, SECONDS);
const WARM_UP = engineRun("warm-up", "open", 5000, 2);
const FLAT_OUT = engineRun("lastcall, flat out", "open", TOO_MUCH, 1.5);

/** The server stands for the whole benchmark; resolves with its port and what ends it. */
async function startServer(core) {
  const [program, ...args] = pinned(core, [process.execPath, file("./raw-server.mjs")]);
  const server = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(server.stdout, "data");
  return { port: String(line).trim(), end: () => server.stdin.end() };
}

async function oneRun(tool, { port, cores, folder }) {
  const asked = {
    bin: tool.bin,
    port,
    url: `http://127.0.0.1:${port}/work`,
    rate: RATE,
    seconds: SECONDS,
    folder,
  };
  const { code, out, err, cpuMs } = await measured(pinned(cores && [cores[1]], tool.words(asked)));
  try {
    const seen = tool.read(out, asked);
    return { ...seen, reached: seen.answered / seen.seconds, cpuMicros: (cpuMs * 1000) / seen.answered };
  } catch (cause) {
    throw new Error(`${tool.name} left with ${code} and said: ${(err || out).slice(0, 500)}`, { cause });
  }
}

const whole = (value) => Math.round(value).toLocaleString("en");
const spread = (values) => `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;

function rowOf(tool, runs, engineRuns) {
  const of = (key) => runs.map((run) => run[key]);
  // Of the same round: what slows the machine slows both.
  const ratios = runs.map((run, round) => run.cpuMicros / engineRuns[round].cpuMicros);
  return {
    tool: tool.name,
    loop: tool.loop,
    "asked/s": tool.loop === "closed" ? "-" : whole(tool.rate ?? RATE),
    "answered/s": whole(median(of("reached"))),
    least: whole(Math.min(...of("reached"))),
    failed: of("failed").reduce((sum, n) => sum + n, 0),
    "p99 ms": median(of("p99Ms")).toFixed(1),
    "processor µs a request": median(of("cpuMicros")).toFixed(1),
    "a second of processor": whole(1e6 / median(of("cpuMicros"))),
    "times lastcall's": `${median(ratios).toFixed(2)} (${spread(ratios)})`,
    "what it keeps": tool.keeps,
  };
}

export async function engineAlone() {
  const cores = twoCores();
  const found = TOOLS.map((tool) => ({ ...tool, bin: findTool(tool.name) }));
  const missing = found.filter(({ bin }) => bin === null).map(({ name }) => name);
  const tools = [ENGINE, FLAT_OUT, ...found.filter(({ bin }) => bin !== null)];
  const folder = mkdtempSync(path.join(tmpdir(), "lastcall-bench-"));
  const server = await startServer(cores && [cores[0]]);
  const runs = new Map(tools.map((tool) => [tool, []]));
  try {
    // Nobody is the first to meet a server whose code has never run.
    await oneRun(WARM_UP, { port: server.port, cores, folder });
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const tool of shuffle(tools, round + 1)) {
        runs.get(tool).push(await oneRun(tool, { port: server.port, cores, folder }));
      }
    }
  } finally {
    server.end();
    rmSync(folder, { recursive: true, force: true });
  }
  const own = runs.get(ENGINE);
  const lags = own.map((run) => run.lagP99Ms);
  const pass =
    median(own.map((run) => run.reached)) >= 0.995 * RATE &&
    median(lags) < LAG_MS &&
    own.every((run) => run.failed === 0);
  return {
    title: "engine: the load engine alone on one core",
    target: `${whole(RATE)} requests/s open loop, each with a full record in the ledger, dispatch lag p99 under ${LAG_MS} ms`,
    pass,
    table: table(tools.map((tool) => rowOf(tool, runs.get(tool), own))),
    method: [
      `${ROUNDS} rounds of ${SECONDS} s each, shuffled, against one trivial server in a process of its own. Medians; times and ratios over the rounds.`,
      cores === null
        ? "Not pinned: there is no taskset here, or one core only."
        : "The server has one core, who asks has another, whole processes with all their threads.",
      `Dispatch lag of lastcall at ${whole(RATE)}/s, p99 of each round: ${lags.map((ms) => `${ms} ms`).join(", ")}.`,
      "Processor time is that of the whole process from its start to its end, the kernel's share included; p99 counts from the intended time where a tool has one.",
      `Flat out: asked for ${whole(TOO_MUCH)}/s over 1.5 s, so that it only ever catches up.`,
      missing.length === 0 ? "" : `Not found here, so not measured: ${missing.join(", ")}.`,
    ]
      .filter((sentence) => sentence !== "")
      .join(" "),
  };
}
