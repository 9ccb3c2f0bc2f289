// `npm run docker`: the service in real containers of a Docker engine of one's own, stopped with a request in flight. Needs
// root, no registry and no network; the engine, its network and its mounts live in namespaces that end with it.
// Usage: node scripts/docker/main.mjs [--node PATH]... [WORD of a case's name]...
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { answers, ask, freePort, need, recordsIn, Show, until, versionOf } from "../show.mjs";
import { CASES } from "./cases.mjs";
import { enclose, startEngine } from "./engine.mjs";
import { makeImage } from "./image.mjs";

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string", multiple: true }, inside: { type: "string" } },
});
const program = fileURLToPath(import.meta.url);

if (values.inside === undefined) {
  need(
    ["dockerd", "docker", "docker-compose", "docker-init", "unshare", "ip", "tar", "dash"],
    "docker.io docker-compose iproute2",
  );
  const scratch = mkdtempSync(path.join(tmpdir(), "lastcall-docker-"));
  process.exitCode = await enclose(
    [process.execPath, program, "--inside", scratch, ...process.argv.slice(2)],
    scratch,
  );
} else {
  process.exitCode = await runInside(values.inside, values.node ?? [process.execPath]);
}

async function runInside(scratch, nodes) {
  const cases = CASES.filter(({ name }) => words.every((word) => name.includes(word)));
  const engine = await startEngine(scratch);
  const show = new Show(cases.map(({ name }) => name));
  try {
    for (const node of nodes) {
      const version = versionOf(node);
      const base = `node-${version}`;
      makeImage(engine, node, base);
      for (const one of cases) {
        const seen = await (one.compose ? runCompose : runContainer)(engine, base, one);
        show.row(one.name, version, describe(seen), judge(one.expect, seen));
      }
    }
  } finally {
    await engine.stop();
  }
  return show.end();
}

/** The image of a case; its name. */
function build(engine, base, { dockerfile }) {
  engine.docker(["build", "-q", "-t", "case", "-"], {
    input: [`FROM ${base}`, ...dockerfile, ""].join("\n"),
  });
  return "case";
}

async function runContainer(engine, base, one) {
  const port = await freePort();
  const name = "service";
  const image = build(engine, base, one);
  engine.docker(["run", "-d", "--name", name, "-p", `127.0.0.1:${port}:8080`, ...(one.run ?? []), image]);
  const seen = await stopped(engine, name, port, one, () =>
    engine.later("docker", ["stop", "-t", String(one.graceS), name]),
  );
  engine.docker(["rm", "-f", name]);
  return seen;
}

async function runCompose(engine, base, one) {
  const port = await freePort();
  const service = { image: build(engine, base, one), ports: [`127.0.0.1:${port}:8080`], ...one.compose };
  const file = path.join(engine.scratch, "compose.json");
  writeFileSync(file, JSON.stringify({ version: "3.7", services: { service } }));
  const compose = (...args) => ["-p", "lastcall", "-f", file, ...args];
  engine.run("docker-compose", compose("up", "-d"));
  const name = engine.docker(["ps", "-q"]);
  const seen = await stopped(engine, name, port, one, () => engine.later("docker-compose", compose("stop")));
  engine.run("docker-compose", compose("down"));
  return seen;
}

/** One request in flight, the stop, and what is left when it is over. */
async function stopped(engine, name, port, { ask: url = "/slow", meanwhile }, stop) {
  const log = () => {
    const { stdout, stderr } = engine.run("docker", ["logs", name]);
    return stdout + stderr;
  };
  await answers(port);
  const atStart = log();
  const answer = ask(port, url);
  // A quick one behind it tells that the service has read what came before.
  await ask(port, "/");
  const done = stop();
  if (meanwhile !== undefined) {
    await until("the stop to begin", () => /not ready/.test(log()));
    void ask(port, meanwhile);
  }
  await done;
  const exit = Number(engine.docker(["inspect", "-f", "{{.State.ExitCode}}", name]));
  const text = log();
  return { exit, answer: await answer, atStart, text, record: recordsIn(text).at(-1) };
}

function describe({ exit, answer, record }) {
  const told = record === undefined ? "no record" : `${record.outcome} (${record.signal}, pid ${record.pid})`;
  const blocked = record?.blockedIn === undefined ? "" : `, blocked in ${record.blockedIn}`;
  return `exit ${exit}, in flight: ${answer}, ${told}${blocked}`;
}

function judge(expect, { exit, answer, atStart, text, record }) {
  const wrong = [];
  const must = (isSo, what) => void (isSo || wrong.push(what));
  must(exit === expect.exit, `exit code ${exit}, not ${expect.exit}`);
  must(expect.answer === undefined || answer === expect.answer, `the request in flight got ${answer}`);
  must(expect.pid === undefined || record?.pid === expect.pid, `the record is of pid ${record?.pid}`);
  must(expect.signal === undefined || record?.signal === expect.signal, `the signal was ${record?.signal}`);
  must(expect.exit !== 0 || record?.outcome === "drained", `the outcome is ${record?.outcome}`);
  must(expect.blockedIn?.test(record?.blockedIn ?? "") ?? true, `blockedIn is ${record?.blockedIn}`);
  must(expect.hasAtStart?.test(atStart) ?? true, `at start it said nothing like ${expect.hasAtStart}`);
  must(expect.has?.test(text) ?? true, `it said nothing like ${expect.has}`);
  must(!(expect.lacks?.test(text) ?? false), `it said ${expect.lacks?.exec(text)?.[0]}`);
  if (wrong.length > 0) wrong.push(`its log: ${text.slice(-1500)}`);
  return wrong;
}
