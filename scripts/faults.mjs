// `npm run faults`: each service of fixtures/faults under a rolling restart. The lab has to name what is planted in it and nothing
// else, and with the cure beside it (CURED=1) everything must vanish. Words choose services by a part of their name; --times=3
// runs each so often; --jobs=4 at a time; --json=FILE keeps the results; --keep=FOLDER keeps the runs.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, setPriority, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, "fixtures/faults");
const lastcall = path.join(root, "packages/lab/bin/lastcall.js");
const flags = process.argv.slice(2).filter((word) => word.startsWith("--"));
const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const flag = (name, otherwise) =>
  flags.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise;
const times = Number(flag("times", "1"));
const jobs = Number(flag("jobs", "3"));
const startedMs = performance.now();
const built = mkdtempSync(path.join(tmpdir(), "lastcall-faults-"));
const all = JSON.parse(readFileSync(path.join(folder, "faults.json"), "utf8"));
const chosen = all.filter(
  ({ service }) => words.length === 0 || words.some((word) => service.includes(word)),
);

/** How each language is built, once, and how one of its services is started. */
const LANGUAGES = {
  node: { tool: ["node", "--version"], run: (name) => ["node", `node/${name}.mjs`] },
  python: { tool: ["python3", "--version"], run: (name) => ["python3", `python/${name}.py`] },
  go: {
    tool: ["go", "version"],
    build: () => {
      mkdirSync(path.join(built, "go"));
      return ["go", ["build", "-o", path.join(built, "go") + path.sep, "./..."], "go"];
    },
    run: (name) => [path.join(built, "go", name)],
  },
  java: {
    tool: ["javac", "-version"],
    build: () => {
      const sources = readdirSync(path.join(folder, "java")).filter((file) => file.endsWith(".java"));
      return ["javac", ["-d", path.join(built, "java"), ...sources], "java"];
    },
    run: (name) => ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", path.join(built, "java"), name],
  },
};

try {
  // What is measured goes before what else the machine does, where it may; without that a busy machine has more invalid runs.
  if (getPriority() > -5) setPriority(-5);
} catch {
  // Needs CAP_SYS_NICE.
}
const missing = new Set();
/** Where Debian has nginx and HAProxy; the lab looks there too. */
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;
const ROUTERS = { nginx: ["-v"], haproxy: ["-v"] };
for (const router of new Set(
  chosen.flatMap(({ router: name = "embedded" }) => (name in ROUTERS ? [name] : [])),
)) {
  if (spawnSync(router, ROUTERS[router], { env: { ...process.env, PATH } }).status !== 0) missing.add(router);
}
for (const language of new Set(chosen.map(({ service }) => service.split("/")[0]))) {
  const { tool, build } = LANGUAGES[language];
  if (spawnSync(tool[0], tool.slice(1)).status !== 0) {
    missing.add(language);
    continue;
  }
  if (build !== undefined) {
    const [program, args, at] = build();
    const done = spawnSync(program, args, { cwd: path.join(folder, at), encoding: "utf8" });
    if (done.status !== 0) throw new Error(`${language}: ${done.stderr}`);
  }
}

let serial = 0;
const runs = path.resolve(flag("keep") ?? built);
mkdirSync(runs, { recursive: true });
/** What a run has unless its own arguments say otherwise. */
const USUAL = { "--rate": "40", "--propagation": "400ms", "--grace": "4s" };

/** One rolling restart: what the lab says of it. */
function rollout({ service, run, router = "embedded", args = [], cure = {} }, cured) {
  const [language, name] = service.split("/");
  const command = (cured ? cure.run : undefined) ?? run ?? LANGUAGES[language].run(name);
  const more = (cured ? cure.args : undefined) ?? args;
  // A router that asks the copies itself has no lag of a control plane.
  const own = more.includes("readiness") ? [...more, "--propagation"] : more;
  const usual = Object.entries(USUAL).filter(([option]) => !own.includes(option));
  const out = path.join(runs, `run-${(serial += 1)}-${service.replace("/", "-")}${cured ? "-cured" : ""}`);
  const child = spawn(
    process.execPath,
    [
      lastcall,
      "rollout",
      "--scenario=stop",
      `--router=${(cured ? cure.router : undefined) ?? router}`,
      ...usual.map(([option, value]) => `${option}=${value}`),
      "--get=/work?id={id}",
      "--post=/orders?id={id}",
      `--executed=${out}.executed`,
      "--attempts=5",
      `--out=${out}`,
      "--json",
      ...more,
      "--",
      ...command,
    ],
    {
      cwd: folder,
      env: { ...process.env, EXECUTED: `${out}.executed`, CURED: cured ? "1" : "" },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let text = "";
  let err = "";
  child.stdout.on("data", (part) => (text += part));
  child.stderr.on("data", (part) => (err += part));
  return new Promise((resolve) => {
    child.on("close", (code) => {
      const verdict = text === "" ? null : JSON.parse(text).rows[0].verdict;
      resolve({
        code,
        verdict,
        kinds: verdict?.kinds ?? [],
        err: err.trim().split("\n").slice(-3).join(" "),
      });
    });
  });
}

const short = ({ id, count }) => (count > 0 ? `${id} x${count}` : id);

/** Null when all is right, else what is wrong. */
function wrongIn({ names, may = [], passes = false }, { code, kinds, err }, cured) {
  if (code !== 0 && code !== 1) return `exit code ${code}: ${err}`;
  const found = kinds.map(({ id }) => id);
  const must = cured ? [] : names;
  const missed = must.filter((id) => !found.includes(id));
  const extra = found.filter((id) => !must.includes(id) && (cured || !may.includes(id)));
  if (missed.length > 0 || extra.length > 0) {
    return [
      ...(missed.length > 0 ? [`missed ${missed.join(" ")}`] : []),
      ...(extra.length > 0 ? [`falsely named ${extra.join(" ")}`] : []),
    ].join(", ");
  }
  const expected = must.length === 0 || passes ? 0 : 1;
  return code === expected ? null : `exit code ${code}, not ${expected}`;
}

/** A run of a service whose fault needs a moment of chance (`tries`) is made again if the moment did not come, and only then. */
async function named(entry) {
  for (let attempt = 1; ; attempt += 1) {
    const result = await rollout(entry, false);
    const wrong = wrongIn(entry, result, false);
    const unmet = result.code === 0 && result.kinds.length === 0;
    if (wrong === null || !unmet || attempt >= (entry.tries ?? 1)) return { result, wrong, attempt };
  }
}

async function judge(entry) {
  const lines = [];
  const beganMs = performance.now();
  let right = 0;
  let seen = "";
  for (let n = 0; n < times; n += 1) {
    const { result, wrong, attempt } = await named(entry);
    right += wrong === null ? 1 : 0;
    if (attempt > 1) lines.push(`    run ${n + 1}: at the ${attempt}. of its ${entry.tries} tries`);
    seen = result.kinds.map(short).join(", ");
    if (wrong !== null) {
      lines.push(`    run ${n + 1}: ${wrong} (${seen || "nothing"})`);
      lines.push(...result.kinds.map(({ id, evidence }) => `      ${id}: ${evidence}`));
    }
  }
  let cured = "-";
  if (entry.names.length > 0) {
    const result = await rollout(entry, true);
    const wrong = wrongIn(entry, result, true);
    cured = wrong === null ? "vanishes" : "WRONG";
    if (wrong !== null) {
      lines.push(`    cured: ${wrong}`);
      lines.push(...result.kinds.map(({ id, evidence }) => `      ${id}: ${evidence}`));
    }
  }
  const good = right === times && cured !== "WRONG";
  const expects = entry.names.join(" ") || "nothing";
  console.log(
    `${entry.service.padEnd(32)} ${expects.padEnd(12)} ${String(right).padStart(2)} of ${times}   ${cured.padEnd(9)} ${seen}`,
  );
  for (const line of lines) console.log(line);
  const seconds = Math.round((performance.now() - beganMs) / 1000);
  return { service: entry.service, expects: entry.names, right, times, cured, good, seconds };
}

console.log("service                          planted      named rightly  cured     last seen");
const queue = chosen
  .filter(({ service, router }) => !missing.has(service.split("/")[0]) && !missing.has(router))
  // The long ones first, so that none of them runs alone at the end.
  .toSorted((a, b) => Number(b.long === true) - Number(a.long === true));
const results = [];
await Promise.all(
  Array.from({ length: jobs }, async () => {
    for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) {
      results.push(await judge(entry));
    }
  }),
);
rmSync(built, { recursive: true, force: true });
if (flag("json") !== undefined) writeFileSync(flag("json"), `${JSON.stringify(results, null, 2)}\n`);
const good = results.filter((one) => one.good).length;
const skipped = missing.size === 0 ? "" : `; skipped, not installed: ${[...missing].join(", ")}`;
const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
console.log(
  `${good} of ${results.length} services named rightly, each ${times} times, in ${minutes} min${skipped}.`,
);
process.exit(good === results.length && (missing.size === 0 || !process.env.CI) ? 0 : 1);
