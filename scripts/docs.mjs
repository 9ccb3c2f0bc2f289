// Writes the generated parts of the documents from the source: the option table and the state diagram. `--check` writes
// nothing and fails when a document is not what the source says.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** What the rollout Action writes for the recorded run that a test renders, too. */
async function recordedSummary() {
  const { summaryOf } = await import(path.join(root, "packages/lab/dist/src/render/summary.js"));
  return summaryOf(
    readFileSync(path.join(root, "packages/lab/test/render/recorded/rollout-stop.json"), "utf8"),
  ).trimEnd();
}

const labSource = path.join(root, "packages/lab/dist/src");
const cell = (text) => text.replaceAll("|", "\\|");

/** A table of names with what each is, from the list that checks them. */
async function described(list, head) {
  const names = (await import(path.join(labSource, "prove/names.js")))[list];
  const rows = Object.entries(names).map(([name, text]) => `| \`${name}\` | ${cell(text)} |`);
  return [`| ${head} | |`, "| --- | --- |", ...rows].join("\n");
}

async function clauseTable() {
  const { CLAUSES } = await import(path.join(labSource, "contract/index.js"));
  const rows = Object.values(CLAUSES).map(
    ({ id, level, title, needs }) =>
      `| ${id} | ${level} | ${cell(title)} | ${needs.map((need) => `\`${need}\``).join(", ")} |`,
  );
  return ["| clause | level | | needs |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

const PARTS = {
  "docs/prove.md": {
    keys: () => described("KEY_NAMES", "key"),
    routes: () => described("ROUTE_NAMES", "route"),
    settings: () => described("SETTING_NAMES", "setting"),
    says: () => described("SAYING_NAMES", "line"),
    modes: () => described("MODE_NAMES", "mode"),
    clauses: clauseTable,
  },
  "docs/pipelines.md": { "a recorded summary": recordedSummary },
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

const kindPage = (id, slug) => `${id}-${slug}.md`;

/** Every kind of the verdict, by its id. */
async function allKinds() {
  const lab = path.join(root, "packages/lab/dist");
  const { KINDS } = await import(path.join(lab, "src/verdict/kinds.js"));
  const { NEEDS } = await import(path.join(lab, "src/verdict/kind.js"));
  const { CASES } = await import(path.join(lab, "test/verdict/cases.js"));
  const { judgeRestart } = await import(path.join(lab, "test/verdict/ledger.js"));
  const faults = JSON.parse(readFileSync(path.join(root, "fixtures/faults/faults.json"), "utf8"));
  return Object.entries(KINDS)
    .map(([slug, kind]) => ({
      slug,
      ...kind,
      needsText: kind.needs === null ? null : NEEDS[kind.needs],
      example: CASES.find((one) => one.kind === slug),
      judge: judgeRestart,
      planted: faults.filter(({ names }) => names.includes(kind.id)).map(({ service }) => service),
    }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

async function kindTable() {
  const rows = (await allKinds()).map(
    ({ id, slug, title, chargedTo, needsText, planted }) =>
      `| [${id}](${kindPage(id, slug)}) | \`${slug}\` | ${title} | ${chargedTo} | ${needsText ?? "every run"} | ${planted.map((service) => `\`${service}\``).join(", ")} |`,
  );
  return `# The kinds of the verdict

Each bad request of a run is in exactly one kind, and the sum over the kinds is the total. Some kinds are also findings without a
loss: they stand in the verdict with the count 0. A kind whose evidence a run did not collect is named under \`notLookedFor\` and never
guessed. K01 to K44 are a catalogue of how requests are lost in rolling restarts; from K45 on stands what it does not list. Ids and
slugs are stable.

How sure a verdict is: \`proven\` (a second run with one factor changed made it vanish, \`--explain\`), \`certain\` (witnesses that do not
know of each other agree), \`likely\` (the client's view and the timeline agree), \`possible\` (only the shape in time speaks for it).

| id | slug | | charged to | seen in | planted in [fixtures/faults](../../fixtures/faults/README.md) |
| --- | --- | --- | --- | --- | --- |
${rows.join("\n")}
`;
}

/** The records that are about this case, as they stand in a ledger. */
function linesOf({ records }) {
  const told = records.filter(({ kind }) => kind !== "end").slice(0, 6);
  return told
    .map((record) =>
      JSON.stringify(record)
        .replace(/"id":"r1-\d+"/, '"id":"r1-000042"')
        .replace(/"connection":\{"id":\d+/, '"connection":{"id":17'),
    )
    .join("\n");
}

async function pageOf(kind) {
  const { id, slug, title, chargedTo, signature, why, fix, needsText, example, judge, planted } = kind;
  const parts = [
    `# ${id}: ${title} (\`${slug}\`)`,
    `Charged to the ${chargedTo}.${needsText === null ? "" : ` Seen only with ${needsText}.`}`,
    `## How it shows\n\n${signature}`,
    `## What happens\n\n${why}`,
    `## What to change\n\n${fix}`,
  ];
  if (example === undefined) {
    parts.push(
      `## Evidence\n\nNot collected yet: it needs ${needsText}. A verdict names it under \`notLookedFor\` and never guesses it.`,
    );
  } else {
    const found = judge(example.records, example.options).kinds.find((one) => one.slug === slug);
    const evidence = found.evidence.replace(/r1-\d+/, "r1-000042");
    parts.push(
      `## Evidence\n\nThe verdict on the example below (${found.confidence}): ${evidence}. Its advice: ${found.advice}`,
    );
    const lines = linesOf(example);
    parts.push(
      lines === ""
        ? `## Example\n\nA finding without a loss: ${example.title}.`
        : `## Example\n\n${example.title[0].toUpperCase()}${example.title.slice(1)}, in the ledger of a run in which copy A got its signal at 2000:\n\n\`\`\`json\n${lines}\n\`\`\``,
    );
  }
  if (planted.length > 0) {
    parts.push(
      `Services with it: ${planted.map((service) => `\`${service}\``).join(", ")} in [fixtures/faults](../../fixtures/faults/README.md).`,
    );
  }
  return `${parts.join("\n\n")}\n`;
}

mkdirSync(path.join(root, "docs/kinds"), { recursive: true });
const kinds = await allKinds();
await whole("docs/kinds/README.md", kindTable);
for (const kind of kinds) await whole(`docs/kinds/${kindPage(kind.id, kind.slug)}`, () => pageOf(kind));
const pages = new Set(["README.md", ...kinds.map(({ id, slug }) => kindPage(id, slug))]);
for (const file of readdirSync(path.join(root, "docs/kinds"))) {
  if (!pages.has(file)) {
    stale += 1;
    console.error(`docs/kinds/${file} is the page of no kind.`);
  }
}

await whole("docs/lastcall.config.schema.json", configSchema);
await whole("docs/report.schema.json", async () => {
  const { REPORT_SCHEMA } = await import(path.join(root, "packages/lab/dist/src/report/schema.js"));
  return `${JSON.stringify(REPORT_SCHEMA, null, 2)}\n`;
});
await whole("docs/rollout.schema.json", async () => {
  const { ROLLOUT_SCHEMA } = await import(path.join(root, "packages/lab/dist/src/report/schema.js"));
  return `${JSON.stringify(ROLLOUT_SCHEMA, null, 2)}\n`;
});
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
