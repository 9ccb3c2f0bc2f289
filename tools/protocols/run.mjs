// `npm run protocols`: each protocol over a stop, its clients' words counted, on each Node version that is installed: first
// the contract's clauses (clauses.mjs), then protocol libraries for real (clients.mjs). The same against plain Node and the
// best peer side by side; they decide nothing. Installs what is missing. --write puts the table into docs/protocols.md.
// With --results FILE each result is kept there, and what is there already is not run again: the whole takes half an hour.
// Usage: node tools/protocols/run.mjs [--node PATH]... [--only-lastcall] [--results FILE] [--write] [WORD]...
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CLAUSE_ROWS } from "./clauses.mjs";
import { install, PEERS_FOLDER, version } from "./peers.mjs";

const folder = path.dirname(fileURLToPath(import.meta.url));
const root = path.dirname(path.dirname(folder));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    node: { type: "string", multiple: true },
    "only-lastcall": { type: "boolean" },
    results: { type: "string" },
    write: { type: "boolean" },
  },
});
install(folder);
install(PEERS_FOLDER);
const { CASES } = await import("./clients.mjs");

const TIMES = {
  LASTCALL_GRACE_PERIOD: "20s",
  LASTCALL_DRAIN_DELAY: "1500ms",
  LASTCALL_GRACEFUL_TIMEOUT: "6s",
  LASTCALL_TEARDOWN_TIMEOUT: "1s",
};

/** A case with a protocol library, as a row like those of the clauses. */
function rowOf(name, one) {
  return {
    protocol: one.protocol,
    case: name,
    peer: one.peer,
    async judge(node, party) {
      const { record, ...seen } = await run(node, one, party);
      return { kept: one.kept({ ...seen, record: record ?? {} }, party), seen: JSON.stringify(seen) };
    },
  };
}

async function run(node, one, party) {
  const child = spawn(node, [path.join(folder, "cases", one.service)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...TIMES, ...one.env, PARTY: party },
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
  const exit = once(child, "exit");
  try {
    const [line] = await Promise.race([
      once(child.stdout.setEncoding("utf8"), "data"),
      exit.then(() => Promise.reject(new Error(`the service did not start: ${errors}`))),
    ]);
    const { port } = JSON.parse(line);
    const stop = () => {
      child.kill("SIGTERM");
      return performance.now();
    };
    const seen = await one.clients(port, stop);
    const [code, signal] = await exit;
    const record = /^\{"schema".*$/m.exec(errors);
    return { ...seen, exit: code ?? signal, record: record === null ? null : JSON.parse(record[0]) };
  } finally {
    child.kill("SIGKILL");
  }
}

/** This one, and those that tools/nodes has. */
function installedNodes() {
  const others = [22, 24, 26].map((major) =>
    path.join(root, `tools/nodes/node_modules/node${major}/bin/node`),
  );
  return [process.execPath, ...others.filter(existsSync)];
}

// A client's own timers may be none that keep this process.
const stay = setInterval(() => {}, 1000);
const rows = [...CLAUSE_ROWS, ...Object.entries(CASES).map(([name, one]) => rowOf(name, one))].filter(
  (row) =>
    positionals.length === 0 ||
    positionals.some((word) => `${row.protocol} ${row.case}`.toLowerCase().includes(word.toLowerCase())),
);
const nodes = (values.node ?? installedNodes()).map((node) => ({
  node,
  version: spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim(),
}));
const parties = values["only-lastcall"] ? ["lastcall"] : ["lastcall", "plain", "peer"];
const words = { true: "kept      ", false: "broken    ", null: "not judged" };
const known = new Map();
const key = (row, party, at) => [row.protocol, row.case, party, at].join(" | ");
if (values.results !== undefined && existsSync(values.results)) {
  for (const line of readFileSync(values.results, "utf8").split("\n").filter(Boolean)) {
    const { of, ...result } = JSON.parse(line);
    known.set(of, result);
  }
}
const results = [];
for (const row of rows) {
  for (const party of parties) {
    for (const { node, version: at } of nodes) {
      const of = key(row, party, at);
      const judged = known.get(of) ?? (await row.judge(node, party));
      results.push({ row, party, version: at, ...judged });
      if (known.has(of)) continue;
      if (values.results !== undefined)
        appendFileSync(values.results, `${JSON.stringify({ of, ...judged })}\n`);
      const who = party === "peer" ? row.peer : party === "plain" ? "plain Node" : party;
      console.error(
        `${words[judged.kept]}  ${at.padEnd(9)} ${who.padEnd(16)} ${row.protocol}, ${row.case}: ${judged.seen}`,
      );
    }
  }
}
clearInterval(stay);

const sign = { true: "✓", false: "**✗**", null: "·" };
const cells = (row, party) =>
  results
    .filter((one) => one.row === row && one.party === party)
    .map(({ kept }) => sign[kept])
    .join(" ");
const majors = nodes.map((one) => one.version.slice(1).split(".", 1)[0]).join(" ");
const others = parties.length > 1;
const lines = [
  `| protocol | case | lastcall ${majors} |${others ? ` plain Node ${majors} | best peer ${majors} | |` : ""}`,
  `| --- | --- | --- |${others ? " --- | --- | --- |" : ""}`,
  ...rows.map((row) => {
    const beside = others ? ` ${cells(row, "plain")} | ${cells(row, "peer")} | ${row.peer} |` : "";
    return `| ${row.protocol} | ${row.case} | ${cells(row, "lastcall")} |${beside}`;
  }),
];
/** What the others' clients saw on the first and the last version. */
const seen = results
  .filter(
    ({ party, kept, version: at }) => party !== "lastcall" && kept === false && at === nodes.at(-1).version,
  )
  .map(
    ({ row, party, seen: text, version: at }) =>
      `- ${row.protocol}, ${row.case}, ${party === "peer" ? row.peer : "plain Node"} on ${at}: ${text.replaceAll(/\s+/g, " ")}`,
  );
const table = `${lines.join("\n")}\n`;
console.log(table);
const ours = results.filter(({ party }) => party === "lastcall");
const broken = ours.filter(({ kept }) => kept !== true).length;
// As the test runner counts, for who adds it up.
console.log(`ℹ pass ${ours.length - broken}\nℹ fail ${broken}`);
if (values.write) {
  const page = path.join(root, "docs/protocols.md");
  const text = readFileSync(page, "utf8");
  const begin = "<!-- measured: npm run protocols -->";
  const end = "<!-- end: measured -->";
  const peers = ["close-with-grace", "http-terminator"].map((name) => `${name} ${version(name)}`);
  const head = `On ${new Date().toISOString().slice(0, 10)}, Node ${nodes.map((one) => one.version.slice(1)).join(", ")}, ${os.cpus().length} cores, ${peers.join(", ")}.`;
  const made = `${begin}\n\n${head}\n\n${table}\nWhat the others' clients saw on Node ${nodes.at(-1).version.slice(1)}:\n\n${seen.join("\n")}\n\n${end}`;
  writeFileSync(
    page,
    `${text.slice(0, text.indexOf(begin))}${made}${text.slice(text.indexOf(end) + end.length)}`,
  );
}
process.exit(broken === 0 ? 0 : 1);
