// `npm run experiments [NAME...]`: plays the classic experiments for real and writes their transcripts into
// docs/experiments.md. With names only those are played; the others keep the transcript they have. Exit 1 when one is
// not shown: its transcript is written all the same.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const page = path.join(root, "docs/experiments.md");
const lastcall = path.join(root, "packages/lab/bin/lastcall.js");
const { EXPERIMENTS } = await import(path.join(root, "packages/lab/dist/src/experiments/all.js"));
const wanted = process.argv.slice(2);
const before = existsSync(page) ? readFileSync(page, "utf8") : "";

/** The transcript that the page has of an experiment. */
function transcriptOf(name) {
  const from = before.indexOf(`<!-- begin: ${name} -->`);
  const to = before.indexOf(`<!-- end: ${name} -->`);
  const text = from === -1 || to === -1 ? "" : before.slice(from, to);
  return /```text\n([\s\S]*?)\n```/.exec(text)?.[1] ?? "";
}

const played = [];
for (const { name, summary } of EXPERIMENTS) {
  let transcript = transcriptOf(name);
  let code = 0;
  if (wanted.length === 0 || wanted.includes(name)) {
    console.log(`lastcall lab ${name} ...`);
    const done = spawnSync(process.execPath, [lastcall, "lab", name, "--no-color"], { encoding: "utf8" });
    code = done.status ?? 1;
    transcript = done.stdout.trimEnd();
    console.log(transcript.split("\n\n").at(-1) || done.stderr);
  }
  played.push({ name, summary, code, transcript });
}

/** The last paragraph, in one line. */
const judgement = (transcript) => transcript.split("\n\n").at(-1).replaceAll("\n", " ");
const anchor = (name) => `[\`${name}\`](#lastcall-lab-${name})`;
writeFileSync(
  page,
  `# The classic experiments

What tutorials on graceful shutdown do by hand, as one command each. \`lastcall lab NAME\` plays it on the
[orders service](../examples/orders), on 127.0.0.1, tells what happens, and says in its last line whether the run shows what it must. It is
computed from what was measured: exit code 0 when it is shown, 1 when it is not, 4 when this machine cannot tell (nginx is not there, no PID
namespace can be made, or the machine was too busy for times). \`--json\` gives the facts, \`--keep FOLDER\` keeps all files.

This page is written by \`npm run experiments\` from real runs; these are from Node ${process.versions.node} on ${process.platform}, ${cpus().length} cores.

| experiment | what is played | what this run says |
| --- | --- | --- |
${played.map(({ name, summary, transcript }) => `| ${anchor(name)} | ${summary} | ${judgement(transcript)} |`).join("\n")}

${played
  .map(
    ({ name, transcript }) =>
      `## lastcall lab ${name}\n\n<!-- begin: ${name} -->\n\n\`\`\`text\n${transcript}\n\`\`\`\n\n<!-- end: ${name} -->`,
  )
  .join("\n\n")}
`,
);
const bad = played.filter(({ code }) => code !== 0).map(({ name }) => name);
console.log(bad.length === 0 ? `${played.length} experiments` : `not shown: ${bad.join(", ")}`);
process.exit(bad.length === 0 ? 0 : 1);
