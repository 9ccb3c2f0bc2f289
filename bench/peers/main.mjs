// `npm run peers`: the popular Node libraries and plain Node, each used as its README says, through `lastcall prove`.
// Prints the table; --write puts it into docs/peers.md. Words choose peers by name. Who asks for a newer Node than this is left out.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import path from "node:path";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.dirname(path.dirname(here));
const tools = path.join(root, "tools/peers");
const lastcall = path.join(root, "packages/lab/bin/lastcall.js");

/** What each of them can be told, and the exit code that it documents for a stop that was cut short. */
const PEERS = [
  { name: "plain-node", title: "server.close()", package: null, incomplete: 1 },
  { name: "stoppable", package: "stoppable", timeout: true, incomplete: 1 },
  { name: "http-shutdown", package: "http-shutdown", incomplete: 1 },
  { name: "moebius", package: "@moebius/http-graceful-shutdown", incomplete: 1 },
  { name: "http-terminator", package: "http-terminator", timeout: true, incomplete: 1 },
  { name: "lil-http-terminator", package: "lil-http-terminator", timeout: true, incomplete: 1 },
  {
    name: "http-graceful-shutdown",
    package: "http-graceful-shutdown",
    timeout: true,
    delay: true,
    incomplete: 1,
  },
  { name: "terminus", package: "@godaddy/terminus", timeout: true, delay: true, ready: true, incomplete: 1 },
  { name: "close-with-grace", package: "close-with-grace", timeout: true, incomplete: 1 },
  { name: "fastify", title: "fastify + close-with-grace", package: "fastify", timeout: true, incomplete: 1 },
  { name: "lightship", package: "lightship", timeout: true, delay: true, incomplete: 1 },
  { name: "gquittet", package: "@gquittet/graceful-server", timeout: true, incomplete: 1 },
  { name: "lastcall", package: null, timeout: true, delay: true, ready: true, live: true, incomplete: 3 },
];

function describe(peer) {
  const basic = peer.name === "fastify";
  return {
    prove: {
      name: peer.name,
      routes: {
        ordinary: "GET /ordinary?id={id}",
        slow: "GET /slow?seconds={seconds}&id={id}",
        ...(basic ? {} : { stream: "GET /stream?seconds={seconds}", upload: "POST /upload" }),
        ...(peer.ready ? { ready: "GET /readyz" } : {}),
        ...(peer.live ? { live: "GET /livez" } : {}),
      },
      settings: {
        ...(peer.delay ? { drainDelay: { env: "DRAIN_DELAY", as: "250" } } : {}),
        ...(peer.timeout ? { gracefulTimeout: { env: "TIMEOUT", as: "250" } } : {}),
      },
      exitCodes: { clean: 0, incomplete: peer.incomplete },
    },
  };
}

function manifest(peer) {
  return JSON.parse(readFileSync(path.join(tools, "node_modules", peer.package, "package.json"), "utf8"));
}

function version(peer) {
  return peer.package !== null
    ? manifest(peer).version
    : peer.name === "lastcall"
      ? "this tree"
      : process.version;
}

/** A peer is judged only on a Node that it says it supports. */
function isSupported(peer) {
  const asked = peer.package === null ? undefined : manifest(peer).engines?.node;
  const [, major = 0, minor = 0] = /^>=\s*(\d+)(?:\.(\d+))?/.exec(asked ?? "") ?? [];
  const [ourMajor, ourMinor] = process.versions.node.split(".").map(Number);
  const fits = ourMajor > Number(major) || (ourMajor === Number(major) && ourMinor >= Number(minor));
  if (!fits) {
    console.error(
      `left out: ${peer.package} ${version(peer)} asks for Node ${asked}, this is ${process.version}`,
    );
  }
  return fits;
}

function prove(peer, folder) {
  const config = path.join(folder, `${peer.name}.json`);
  writeFileSync(config, JSON.stringify(describe(peer)));
  const args = [
    lastcall,
    "prove",
    "--config",
    config,
    "--json",
    "--",
    process.execPath,
    path.join(here, "services", `${peer.name}.mjs`),
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (part) => (out += part));
  child.stderr.on("data", (part) => (err += part));
  return new Promise((resolve, reject) => {
    child.on("close", (code) => {
      if (code === 0 || code === 1) resolve(JSON.parse(out));
      else reject(new Error(`${peer.name}: exit code ${code}\n${err}`));
    });
  });
}

if (!existsSync(path.join(tools, "node_modules"))) {
  const done = spawnSync("npm", ["ci", "--no-fund", "--no-audit", "--prefix", tools], { stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}
const words = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const wanted = PEERS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
const chosen = wanted.filter(isSupported);
if (process.argv.includes("--write") && chosen.length < PEERS.length) {
  console.error(
    "docs/peers.md holds all of them: run this without names, with a Node that all of them support.",
  );
  process.exit(2);
}
const folder = mkdtempSync(path.join(tmpdir(), "lastcall-peers-"));
const proofs = [];
for (const peer of chosen) {
  console.error(`${peer.name} ...`);
  proofs.push({ peer, proof: await prove(peer, folder) });
}

const ids = proofs[0].proof.clauses
  .map(({ id }) => id)
  .filter((id) =>
    proofs.some(({ proof }) => proof.clauses.find((clause) => clause.id === id).kind !== "not judged"),
  );
const sign = { kept: "✓", broken: "**✗**", "not judged": "·" };
const lines = [
  `| | ${ids.join(" | ")} | kept | broken |`,
  `| --- | ${ids.map(() => "---").join(" | ")} | --- | --- |`,
  ...proofs.map(({ peer, proof }) => {
    const cells = ids.map((id) => sign[proof.clauses.find((clause) => clause.id === id).kind]);
    return `| ${peer.title ?? peer.package ?? peer.name} ${version(peer)} | ${cells.join(" | ")} | ${proof.counts.kept} | ${proof.counts.broken} |`;
  }),
];
const reasons = proofs.flatMap(({ peer, proof }) => [
  `### ${peer.title ?? peer.package ?? peer.name}`,
  "",
  ...proof.clauses
    .filter(({ kind }) => kind === "broken")
    .map(({ id, reason }) => `- ${id}: ${reason.replaceAll(/\s+/g, " ")}`),
  "",
]);
const titles = proofs[0].proof.clauses
  .filter(({ id }) => ids.includes(id))
  .map(({ id, title }) => `- ${id}: ${title}`);
const page = `# The popular libraries, clause by clause

Made by \`npm run peers -- --write\` on ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} cores: each library used as its README says
(\`bench/peers/services/\`), held against the [contract](contract.md) by \`lastcall prove\`. ✓ kept, ✗ broken, · not judged: the library has no such
thing (a drain delay, a readiness route), which is no fault of it. Who finds something unjust here finds the service in that folder, and a
change of it welcome.

${lines.join("\n")}

${titles.join("\n")}

## What was seen

${reasons.join("\n")}`;
if (process.argv.includes("--write")) writeFileSync(path.join(root, "docs/peers.md"), page);
else console.log(page);
