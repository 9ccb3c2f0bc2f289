// `npm run mutation [MODULE...]`: small changes, one at a time, to the compiled core, each of which a test must notice. What
// no test can notice is listed with its reason in docs/mutation.md; anything else that survives fails the run.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const tool = path.join(root, "tools/mutation");
const ALL = ["machine", "deadline", "admission", "tasks", "teardown", "record"];
const asked = process.argv.slice(2);
const modules = asked.length === 0 ? ALL : asked;

function run(command, args, cwd) {
  const done = spawnSync(command, args, { cwd, stdio: "inherit" });
  return done.status ?? 1;
}

if (!existsSync(path.join(tool, "node_modules/@stryker-mutator/core"))) {
  run("npm", ["ci", "--ignore-scripts"], tool);
}
if (run("npx", ["--no-install", "tsc", "-b"], root) !== 0) {
  process.exit(1);
}

/**
 * In one process each, since there are hundreds of runs and most of the time would go into starting. Each is asked about
 * what the ones before have not noticed. A change may make a loop endless, which is noticed when the time is over.
 */
const TESTS = {
  "own.mjs": { tests: modules, limitMs: 30_000 },
  "near.mjs": { tests: ALL.filter((name) => !modules.includes(name)), limitMs: 30_000 },
  "far.mjs": { tests: ["lifecycle", "explorer-orders"], limitMs: 180_000 },
};

const base = mkdtempSync(path.join(tmpdir(), "lastcall-mutation-"));
let unexplained = 0;
try {
  cpSync(path.join(root, "packages/lastcall/dist"), path.join(base, "dist"), { recursive: true });
  writeFileSync(path.join(base, "package.json"), '{"type":"module"}\n');
  mkdirSync(path.join(base, "node_modules"));
  for (const name of ["fast-check", "pure-rand"]) {
    symlinkSync(path.join(root, "node_modules", name), path.join(base, "node_modules", name));
  }
  for (const [name, { tests }] of Object.entries(TESTS)) {
    const imports = tests.map((test) => `await import("./dist/test/${test}.test.js");\n`);
    writeFileSync(path.join(base, name), imports.join(""));
  }
  writeFileSync(
    path.join(base, "tests.mjs"),
    `import { spawnSync } from "node:child_process";
for (const [name, { limitMs }] of Object.entries(${JSON.stringify(TESTS)})) {
  const done = spawnSync(process.execPath, [name], { timeout: limitMs, killSignal: "SIGKILL" });
  if (done.status !== 0) process.exit(1);
}
`,
  );
  writeFileSync(
    path.join(base, "stryker.config.json"),
    JSON.stringify({
      testRunner: "command",
      commandRunner: { command: `${process.execPath} tests.mjs` },
      mutate: modules.map((name) => `dist/src/${name}.js`),
      reporters: ["json", "progress-append-only"],
      jsonReporter: { fileName: "report.json" },
      concurrency: 2,
      coverageAnalysis: "off",
      // TypeScript 7 has no interface that this tool could ask.
      tsconfigFile: "none",
      disableTypeChecks: false,
      checkers: [],
      timeoutMS: 240_000,
    }),
  );
  const code = run(path.join(tool, "node_modules/.bin/stryker"), ["run", "--logLevel", "warn"], base);
  if (code !== 0) {
    process.exitCode = code;
  }
  const { files } = JSON.parse(readFileSync(path.join(base, "report.json"), "utf8"));
  const page = path.join(root, "docs/mutation.md");
  const explained = existsSync(page) ? readFileSync(page, "utf8") : "";
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const lines = source.split("\n");
    const alive = mutants.filter(({ status }) => status === "Survived" || status === "NoCoverage");
    console.log(
      `${path.basename(file, ".js")}: ${mutants.length} mutants, ${mutants.length - alive.length} noticed`,
    );
    for (const { location, replacement } of alive) {
      const { start, end } = location;
      const before = lines
        .slice(start.line - 1, end.line)
        .map((line, at, all) =>
          line.slice(at === 0 ? start.column - 1 : 0, at === all.length - 1 ? end.column - 1 : undefined),
        )
        .join(" ")
        .replaceAll(/\s+/g, " ");
      const name = `\`${before}\` to \`${replacement.replaceAll(/\s+/g, " ")}\``;
      const known = explained.includes(name);
      unexplained += known ? 0 : 1;
      console.log(`  ${known ? "explained" : "SURVIVED "}  line ${start.line}: ${name}`);
    }
  }
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(unexplained === 0 ? "nothing survived unexplained" : `${unexplained} survived unexplained`);
process.exit(unexplained === 0 ? (process.exitCode ?? 0) : 1);
