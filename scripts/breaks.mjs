// `npm run breaks [WORD...]`: each service of fixtures/breaks is held against the whole contract. `lastcall prove` has to find
// broken the clause that its name begins with, and nothing else. Words choose services by a part of their name.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, "fixtures/breaks");
const lastcall = path.join(root, "packages/lab/bin/lastcall.js");
const words = process.argv.slice(2);
/** Most of a proof is waiting. */
const AT_ONCE = 2;

const built = mkdtempSync(path.join(tmpdir(), "lastcall-breaks-"));
process.on("exit", () => rmSync(built, { recursive: true, force: true }));

/** What runs the services of a folder; `prepare` returns what went wrong, if anything. */
const LANGUAGES = {
  node: { tool: ["node", "--version"], command: (name) => [process.execPath, `node/${name}`] },
  python: { tool: ["python3", "--version"], command: (name) => ["python3", `python/${name}`] },
  go: {
    tool: ["go", "version"],
    prepare: () => {
      const done = spawnSync("go", ["build", "-o", built, "./..."], {
        cwd: path.join(folder, "go"),
        encoding: "utf8",
      });
      return done.status === 0 ? null : done.stderr;
    },
    command: (name) => [path.join(built, name)],
  },
};

/** `a1-stays-ready.mjs` breaks A1, `right.py` nothing; everything else is what they are made of. */
function servicesOf(language) {
  return readdirSync(path.join(folder, language))
    .filter((name) => /^(?:right\b|[a-g]\d+[-_])/.test(name))
    .map((name) => ({
      service: `${language}/${name}`,
      breaks: /^[a-g]\d+/.exec(name)?.[0].toUpperCase() ?? "",
      language,
      command: LANGUAGES[language].command(name),
    }));
}

function prove({ command }) {
  const child = spawn(
    process.execPath,
    [lastcall, "prove", "--config", "describe.json", "--json", "--", ...command],
    { cwd: folder, stdio: ["ignore", "pipe", "pipe"] },
  );
  let out = "";
  let err = "";
  child.stdout.on("data", (part) => (out += part));
  child.stderr.on("data", (part) => (err += part));
  return new Promise((resolve) => {
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

const chosen = Object.keys(LANGUAGES)
  .flatMap(servicesOf)
  .filter(({ service }) => words.length === 0 || words.some((word) => service.includes(word)));
if (chosen.length === 0) {
  console.error(`No service is named ${words.join(" or ")}.`);
  process.exit(2);
}

const startedAt = performance.now();
const seconds = () => Math.round((performance.now() - startedAt) / 1000);
const width = Math.max(...chosen.map(({ service }) => service.length));
let right = 0;
const skipped = [];
const queue = [];
for (const language of new Set(chosen.map((entry) => entry.language))) {
  const { tool, prepare } = LANGUAGES[language];
  const mine = chosen.filter((entry) => entry.language === language);
  const isHere = spawnSync(tool[0], tool.slice(1)).error === undefined;
  const trouble = isHere ? prepare?.() : `skipped: no ${tool[0]} here`;
  if (!isHere) {
    skipped.push(...mine);
  }
  if (trouble) {
    mine.forEach(({ service }) => console.log(`${service.padEnd(width)}  ${trouble.trim()}`));
  } else {
    queue.push(...mine);
  }
}

const row = (service, breaks, found, kept, notJudged, verdict) =>
  console.log(
    `${service.padEnd(width)}  ${breaks.padEnd(6)}  ${found.padEnd(12)}  ${kept.padEnd(4)}  ${notJudged.padEnd(10)}  ${verdict}`.trimEnd(),
  );
row("service", "breaks", "found broken", "kept", "not judged", "");

async function judge(entry) {
  const beganAt = performance.now();
  const { code, out, err } = await prove(entry);
  const took = `${Math.round((performance.now() - beganAt) / 1000)} s`;
  if (code !== 0 && code !== 1) {
    console.log(
      `${entry.service.padEnd(width)}  could not be judged (exit code ${code}): ${err.trim().split("\n").slice(-3).join(" ")}`,
    );
    return;
  }
  const { clauses, counts } = JSON.parse(out);
  const broken = clauses.filter(({ kind }) => kind === "broken");
  const found = broken.map(({ id }) => id).join(" ");
  const isRight = found === entry.breaks;
  right += isRight ? 1 : 0;
  row(
    entry.service,
    entry.breaks || "-",
    found || "-",
    String(counts.kept),
    String(counts.notJudged),
    isRight ? took : `WRONG (${took})`,
  );
  if (!isRight) {
    broken.forEach(({ id, reason }) => console.log(`    ${id}: ${reason}`));
  }
}

async function worker() {
  for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) {
    await judge(entry);
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, worker));

const judged = chosen.length - skipped.length;
console.log(
  `${right} of ${judged} services judged rightly${skipped.length > 0 ? `, ${skipped.length} skipped` : ""} (${seconds()} s, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)})`,
);
// A laptop may lack a language; CI may not.
const mustHaveAll = process.env.CI !== undefined || process.env.LASTCALL_CI !== undefined;
process.exit(right < judged || (skipped.length > 0 && mustHaveAll) ? 1 : 0);
