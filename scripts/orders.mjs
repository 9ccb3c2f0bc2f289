// `npm run orders`: the builds of the orders service that know nothing of the library, held against the contract under auto mode.
// A row is kept when no clause is broken and each one that the build `lastcall` keeps is kept, tracked work (D) aside: that
// an app must say. One minute a row. Usage: node scripts/orders.mjs [--node PATH]... [--only A5,B2]
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Show, versionOf } from "./show.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const BUILDS = ["lastcall", "auto", "auto-naive"];

const { values } = parseArgs({
  options: { node: { type: "string", multiple: true }, only: { type: "string" } },
});

/** The verdict on each clause. */
function prove(node, build) {
  const only = values.only === undefined ? [] : ["--only", values.only];
  // One folder a build: what another Node has stored in a file may not be readable to this one.
  const scratch = mkdtempSync(path.join(tmpdir(), "lastcall-orders-"));
  const db = path.join(scratch, "{port}.db");
  const service = [node, "dist/src/server.js", "--build", build, "--port", "{port}", "--db", db];
  const done = spawnSync(
    process.execPath,
    [path.join(root, "packages/lab/dist/src/main.js"), "prove", "--json", ...only, "--", ...service],
    { cwd: path.join(root, "examples/orders"), encoding: "utf8", maxBuffer: 1e8 },
  );
  rmSync(scratch, { recursive: true, force: true });
  if (done.status !== 0 && done.status !== 1)
    throw new Error(`prove ended with ${done.status}: ${done.stderr}`);
  const { clauses } = JSON.parse(done.stdout);
  return Object.fromEntries(clauses.map(({ id, kind }) => [id, kind]));
}

const show = new Show(BUILDS);
for (const node of (values.node ?? [process.execPath]).map((file) => path.resolve(file))) {
  let reference = {};
  for (const build of BUILDS) {
    const verdicts = prove(node, build);
    reference = build === "lastcall" ? verdicts : reference;
    const those = (wanted) => Object.keys(verdicts).filter((clause) => verdicts[clause] === wanted);
    const wrong = those("broken").map((clause) => `${clause} is broken`);
    for (const [clause, verdict] of Object.entries(reference)) {
      if (verdict === "kept" && verdicts[clause] === "not judged" && !clause.startsWith("D")) {
        wrong.push(`${clause} is kept by the build lastcall, and not judged here`);
      }
    }
    const counts = ["kept", "broken", "not judged"].map((word) => `${those(word).length} ${word}`);
    show.row(build, versionOf(node), counts.join(", "), wrong);
  }
}
process.exitCode = show.end();
