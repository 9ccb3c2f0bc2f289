// Writes the generated parts of the documents from the source: the option table and the state diagram. `--check` writes
// nothing and fails when a document is not what the source says.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const library = path.join(root, "packages/lastcall");

async function optionTable() {
  const { OPTION_TABLE } = await import(path.join(library, "dist/src/options.js"));
  const source = readFileSync(path.join(library, "src/options.ts"), "utf8");
  const body = source.slice(
    source.indexOf("export interface LifecycleOptions"),
    source.indexOf("export interface ProbePaths"),
  );
  const rows = ["| option | environment | meaning and default |", "| --- | --- | --- |"];
  for (const [, comment, name] of body.matchAll(/\/\*\*([\s\S]*?)\*\/\s*readonly (\w+)\?/g)) {
    const text = comment.replaceAll(/\s*\n\s*\*\s?/g, " ").trim();
    const env = OPTION_TABLE[name].env;
    rows.push(`| \`${name}\` | \`${env}\` | ${text.replaceAll("|", "\\|")} |`);
  }
  return rows.join("\n");
}

async function stateDiagram() {
  const { diagram } = await import(path.join(library, "dist/src/machine.js"));
  return `\`\`\`mermaid\n${diagram()}\n\`\`\``;
}

const PARTS = {
  "docs/options.md": { options: optionTable },
  "docs/architecture.md": { states: stateDiagram },
};

let stale = 0;

/** A document that is made whole. */
async function whole(file, make) {
  const at = path.join(root, file);
  const made = await make();
  const before = existsSync(at) ? readFileSync(at, "utf8") : "";
  if (before !== made && process.argv.includes("--check")) {
    stale += 1;
    console.error(`${file} is not what the source says: run \`node scripts/docs.mjs\`.`);
  } else if (before !== made) {
    writeFileSync(at, made);
  }
}

async function configSchema() {
  const lab = path.join(root, "packages/lab/dist/src");
  const { configSchema: make } = await import(path.join(lab, "prove/schema.js"));
  const { CONFIG } = await import(path.join(lab, "commands/rollout.js"));
  return `${JSON.stringify(make(CONFIG), null, 2)}\n`;
}

/** Every lint rule with its severity, its page and its two fixtures. */
async function ruleTable() {
  const { RULES } = await import(path.join(root, "packages/lab/dist/src/lint/rules/all.js"));
  const fixtures = "../../packages/lab/test/lint/fixtures";
  const rows = RULES.map(
    ({ id, severity, summary }) =>
      `| [${id}](${id}.md) | ${severity} | ${summary.replaceAll("|", "\\|")} | [fires](${fixtures}/${id}/fires) | [stays silent](${fixtures}/${id}/stays-silent) |`,
  );
  return `# The rules of \`lastcall lint\`\n\n${RULES.length} rules; the severity is the most severe that a rule gives. [../lint.md](../lint.md) says how to use them.\n\n| rule | severity | what it finds | | |\n| --- | --- | --- | --- | --- |\n${rows.join("\n")}\n`;
}

await whole("docs/lastcall.config.schema.json", configSchema);
await whole("docs/rules/README.md", ruleTable);

for (const [file, parts] of Object.entries(PARTS)) {
  const at = path.join(root, file);
  const before = readFileSync(at, "utf8");
  let after = before;
  for (const [name, make] of Object.entries(parts)) {
    const [open, close] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
    const from = after.indexOf(open);
    const to = after.indexOf(close);
    if (from === -1 || to === -1) throw new Error(`${file} has no part '${name}'`);
    after = `${after.slice(0, from + open.length)}\n\n${await make()}\n\n${after.slice(to)}`;
  }
  if (after !== before && process.argv.includes("--check")) {
    stale += 1;
    console.error(`${file} is not what the source says: run \`node scripts/docs.mjs\`.`);
  } else if (after !== before) {
    writeFileSync(at, after);
  }
}
process.exit(stale === 0 ? 0 : 1);
