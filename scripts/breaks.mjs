// `npm run breaks`: each service of fixtures/breaks is held against the whole contract. `lastcall prove` has to find broken
// what it breaks, and nothing else. Words on the command line choose services by a part of their name.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, "fixtures/breaks");
const lastcall = path.join(root, "packages/lab/bin/lastcall.js");
const words = process.argv.slice(2);
const all = JSON.parse(readFileSync(path.join(folder, "breaks.json"), "utf8"));
const chosen = all.filter(
  ({ service }) => words.length === 0 || words.some((word) => service.includes(word)),
);

function prove({ run, service, build }) {
  const child = spawn(
    process.execPath,
    [
      lastcall,
      "prove",
      "--config",
      "describe.json",
      "--json",
      "--",
      ...run,
      ...(build === undefined ? [service] : []),
    ],
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

let wrong = 0;
let missing = 0;
console.log("service                              breaks   found broken   kept  not judged");
for (const entry of chosen) {
  const tool = (entry.build ?? entry.run)[0];
  const built = entry.build === undefined ? null : spawnSync(tool, entry.build.slice(1), { cwd: folder });
  if (built?.error ?? spawnSync(tool, ["--version"]).error) {
    missing += 1;
    console.log(`${entry.service.padEnd(36)} skipped: no ${tool} here`);
    continue;
  }
  const { code, out, err } = await prove(entry);
  if (code !== 0 && code !== 1) {
    wrong += 1;
    console.log(
      `${entry.service.padEnd(36)} could not be judged (exit code ${code}): ${err.trim().split("\n").at(-1)}`,
    );
    continue;
  }
  const { clauses, counts } = JSON.parse(out);
  const broken = clauses.filter(({ kind }) => kind === "broken");
  const found = broken.map(({ id }) => id).join(" ");
  const right = found === (entry.breaks ?? "");
  wrong += right ? 0 : 1;
  console.log(
    `${entry.service.padEnd(36)} ${String(entry.breaks ?? "-").padEnd(8)} ${(found || "-").padEnd(14)} ${String(counts.kept).padEnd(5)} ${String(counts.notJudged).padEnd(3)} ${right ? "" : "WRONG"}`,
  );
  if (!right) {
    for (const { id, reason } of broken) {
      console.log(`    ${id}: ${reason}`);
    }
  }
}
console.log(
  `${chosen.length - wrong - missing} of ${chosen.length} services judged rightly${missing > 0 ? `, ${missing} skipped` : ""}.`,
);
process.exit(wrong > 0 || (missing > 0 && process.env.CI) ? 1 : 0);
