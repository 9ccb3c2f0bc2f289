// (f) What loading the library costs at start: the processor time of the whole process up to the first listening server,
// bare and with `--import`, one after the other in turns. An empty module is the control: `--import` itself costs something.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { link } from "../scripts/link.mjs";
import { median, quantile, table } from "./stats.mjs";

const ROUNDS = 25;
const APP = `
require("node:http").createServer().listen(0, "127.0.0.1", () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write(String((user + system) / 1000), () => process.exit(0));
});`;

export async function startUpCost() {
  const scratch = mkdtempSync(path.join(tmpdir(), "lastcall-bench-"));
  const empty = path.join(scratch, "empty.mjs");
  const app = path.join(scratch, "app.cjs");
  writeFileSync(empty, "");
  writeFileSync(app, APP);
  const auto = fileURLToPath(import.meta.resolve("lastcall/auto"));
  // Beside the modules: it finds its other programs from where it is.
  const packed = path.join(path.dirname(auto), `auto-linked-${process.pid}.js`);
  writeFileSync(packed, link(auto));
  const variants = {
    bare: [],
    "bare again (control)": [],
    "--import of an empty module": ["--import", empty],
    "--import lastcall/auto, as packed": ["--import", packed],
    "--import lastcall/auto, as built": ["--import", auto],
  };
  const cpuMs = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, flags] of Object.entries(variants)) {
        const done = spawnSync(process.execPath, [...flags, app], {
          encoding: "utf8",
          env: { PATH: process.env.PATH, LASTCALL_LOG: "none" },
        });
        cpuMs[name].push(Number(done.stdout));
      }
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    rmSync(packed);
  }
  const bare = median(cpuMs.bare);
  const more = (name) => Math.round((median(cpuMs[name]) - bare) * 10) / 10;
  const ownMs = more("--import lastcall/auto, as packed");
  return {
    title: "Start",
    target: `at most ${LIMIT_MS} ms of processor time over a bare service`,
    method: `${ROUNDS} processes of each kind, in turns: a service of node:http, from its start until it listens. The package has auto mode linked into one file; here it is seventy.`,
    pass: ownMs <= LIMIT_MS,
    table: table(
      Object.entries(cpuMs).map(([name, ms]) => ({
        service: name,
        "cpu ms, median": Math.round(median(ms)),
        "least to p90": `${Math.round(quantile(ms, 0))} to ${Math.round(quantile(ms, 0.9))}`,
        "more than bare": more(name),
      })),
    ),
  };
}

/** What a start of 40 to 150 ms may cost more. */
const LIMIT_MS = 30;
