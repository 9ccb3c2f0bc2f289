// The six rows of `lastcall rollout` on services that are not ours, as one table: node six-rows.mjs [uvicorn] [gunicorn] [go] [java].
// The rows without a delay stop the service as it is, those with one hand it the delay. PYTHON names the interpreter that has
// requirements.txt. Ends with 1 when a row does not show what the same row of the orders service must.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { SCENARIOS } from "../../packages/lab/dist/src/scenario/scenarios.js";
import { missed } from "../../packages/lab/dist/src/scenario/expectation.js";

const here = import.meta.dirname;
const lastcall = path.resolve(here, "../../packages/lab/bin/lastcall.js");
const folder = mkdtempSync(path.join(tmpdir(), "lastcall-six-rows-"));
const python = process.env.PYTHON ?? "python3";
const gunicorn = [
  python,
  "-m",
  "gunicorn",
  "-k",
  "uvicorn_worker.UvicornWorker",
  "-w",
  "2",
  "-b",
  "127.0.0.1:{port}",
];
/** Replaced by its command, so that the signal comes to the service. */
const delayed = ["env", "DRAIN_DELAY={drainDelay}"];
const java = ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", folder, "Orders"];

/** `usual`: as it is; `drains`: with a drain delay of its own. */
const SERVICES = {
  uvicorn: {
    cwd: "python",
    usual: [
      python,
      "-m",
      "uvicorn",
      "app:app",
      "--host",
      "127.0.0.1",
      "--port",
      "{port}",
      "--log-level",
      "warning",
    ],
    drains: [...delayed, python, "serve.py"],
  },
  gunicorn: {
    cwd: "python",
    usual: [...gunicorn, "app:app"],
    drains: [...delayed, ...gunicorn, "-c", "gunicorn_drains.py", "app:app"],
  },
  go: {
    cwd: "go",
    build: ["go", "build", "-o", path.join(folder, "orders-go"), "."],
    usual: [path.join(folder, "orders-go")],
    drains: [...delayed, path.join(folder, "orders-go")],
  },
  java: {
    cwd: "java",
    build: ["javac", "-d", folder, "Orders.java"],
    usual: java,
    drains: [...delayed, ...java],
  },
};

function play(name, { cwd, usual, drains }, row) {
  const out = path.join(folder, `${name}-${row.name}`);
  const done = `${out}.done`;
  const child = spawn(
    process.execPath,
    [
      lastcall,
      "rollout",
      `--scenario=${row.name}`,
      "--router=nginx",
      "--attempts=3",
      "--ready-timeout=60s",
      `--out=${out}`,
      "--json",
      "--get=/work?seconds=0.3&id={id}",
      "--post=/orders?id={id}",
      '--post-body={"id":"{id}","work":0.3}',
      `--executed=${done}`,
      "--",
      ...(row.drainDelayMs > 0 ? drains : usual),
    ],
    { cwd: path.join(here, cwd), env: { ...process.env, EXECUTED: done }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let [text, err] = ["", ""];
  child.stdout.on("data", (part) => (text += part));
  child.stderr.on("data", (part) => (err += part));
  return new Promise((resolve, reject) => {
    child.on("close", (code) => {
      if (text === "") return reject(new Error(`${name}, ${row.name}: exit code ${code}: ${err.trim()}`));
      resolve(JSON.parse(text).rows[0]);
    });
  });
}

const names = process.argv.slice(2).length > 0 ? process.argv.slice(2) : Object.keys(SERVICES);
let wrong = 0;
mkdirSync(folder, { recursive: true });
console.log("| service | row | sent | failed GET | failed POST | slow | kinds | 201s, rows | must show |");
console.log("| --- | --- | ---: | ---: | ---: | ---: | --- | --- | --- |");
try {
  for (const name of names) {
    const service = SERVICES[name];
    if (service === undefined) throw new Error(`There is no ${name}: ${Object.keys(SERVICES).join(", ")}`);
    if (service.build !== undefined) {
      const [program, ...args] = service.build;
      const built = spawnSync(program, args, { cwd: path.join(here, service.cwd), encoding: "utf8" });
      if (built.status !== 0) throw new Error(`${name}: ${built.stderr ?? built.error?.message}`);
    }
    for (const row of Object.values(SCENARIOS)) {
      const seen = await play(name, service, row);
      const { ratePerSecond, propagationMs, repeat } = seen.verdict.run.parameters;
      const why =
        seen.verdict.outcome === "invalid"
          ? seen.why
          : missed(row.expectation, seen, { ratePerSecond, propagationMs, repeat });
      wrong += why === null ? 0 : 1;
      const kinds = seen.verdict.kinds.map(
        ({ count, title, id }) => `${count > 0 ? `${count} ` : ""}${title} (${id})`,
      );
      console.log(
        `| ${name} | \`${row.name}\` | ${seen.sent} | ${seen.getFailed} | ${seen.postFailed} | ${seen.slow} | ${kinds.join(", ") || "none"} | ${seen.acknowledged}, ${seen.rows} | ${row.mustShow}: ${why === null ? "yes" : `NO, ${why}`} |`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = wrong === 0 ? 0 : 1;
