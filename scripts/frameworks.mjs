// `npm run frameworks`: each framework's own hello example, with and without `--import lastcall/auto`. A row is kept when
// the example answers the same with and without, a request in flight at SIGTERM is answered whole with auto, with and
// without the framework's own stop handler, and the process exits 0 with a record that counts it. Installs what is missing.
// Usage: node scripts/frameworks.mjs [--node PATH]... [NAME]...
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, "tools/frameworks");
const AUTO = pathToFileURL(path.join(root, "packages/lastcall/dist/src/auto.js")).href;
const NAMES = ["http", "https", "express", "fastify", "koa", "hono", "nest"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string", multiple: true } },
});
const nodes = values.node ?? [process.execPath];
const names = positionals.length === 0 ? NAMES : positionals;

if (!existsSync(path.join(folder, "node_modules"))) {
  const done = spawnSync("npm", ["ci", "--no-fund", "--no-audit"], { cwd: folder, stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}
const scratch = mkdtempSync(path.join(tmpdir(), "lastcall-frameworks-"));
const tls = { TLS_KEY: path.join(scratch, "key.pem"), TLS_CERT: path.join(scratch, "cert.pem") };
if (names.includes("https")) {
  const asked =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1";
  const made = spawnSync("openssl", [...asked.split(" "), "-keyout", tls.TLS_KEY, "-out", tls.TLS_CERT], {
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`openssl made no certificate: ${made.stderr}`);
}

function ask(name, port, url) {
  const agent = name === "https" ? https : http;
  const ca = name === "https" ? readFileSync(tls.TLS_CERT) : undefined;
  return new Promise((resolve) => {
    const request = agent.get({ host: "127.0.0.1", port, path: url, agent: false, ca }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text) => (body += text));
      response.once("error", () => resolve({ status: "cut", body }));
      response.once("end", () => {
        const { date: _date, ...headers } = response.headers;
        resolve({ status: response.statusCode, body, headers });
      });
    });
    request.once("error", (error) => resolve({ status: error.code, body: "" }));
  });
}

/** Starts the example, asks it, stops it with a request in flight, and tells what was seen. */
async function run(node, name, { auto, own }) {
  const child = spawn(
    node,
    [...(auto ? ["--import", AUTO] : []), path.join(folder, "hello", `${name}.mjs`)],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH,
        ...tls,
        ...(own ? { OWN_HANDLER: "1" } : {}),
        ...(auto ? { LASTCALL_DRAIN_DELAY: "200ms" } : {}),
      },
    },
  );
  const closed = once(child, "close");
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  let stdout = "";
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  const listening = new Promise((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      const port = /listening (\d+)/.exec(stdout)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
  const port = await Promise.race([listening, closed.then(() => null)]);
  if (port === null) {
    clearTimeout(timer);
    return { hello: { status: "never listened", body: stderr } };
  }
  const hello = await ask(name, port, "/");
  const slow = ask(name, port, "/slow");
  // The slow answer is a second and a half away; a quick one tells that the server has read what came before it.
  await ask(name, port, "/");
  child.kill("SIGTERM");
  const answer = await slow;
  const [code, signal] = await closed;
  clearTimeout(timer);
  const line = stderr.split("\n").find((text) => text.startsWith('{"schema"'));
  return { hello, slow: answer.status, end: code ?? signal, record: line && JSON.parse(line), stderr };
}

const problems = [];
console.log("framework  node       hello        own handler, alone   auto               auto + own handler");
for (const node of nodes) {
  const version = spawnSync(node, ["-v"], { encoding: "utf8" }).stdout.trim();
  for (const name of names) {
    const alone = await run(node, name, { auto: false, own: true });
    const bare = await run(node, name, { auto: true, own: false });
    const both = await run(node, name, { auto: true, own: true });
    const wrong = [];
    const isSame = (one) => JSON.stringify(one.hello) === JSON.stringify(alone.hello);
    if (alone.hello.status !== 200) wrong.push(`hello: ${JSON.stringify(alone.hello)}`);
    if (!isSame(bare) || !isSame(both))
      wrong.push(`the answer differs: ${JSON.stringify([alone.hello, bare.hello, both.hello])}`);
    for (const [what, seen] of Object.entries({ auto: bare, "auto + own handler": both })) {
      const { outcome, requests, foreign } = seen.record ?? {};
      if (seen.slow !== 200) wrong.push(`${what}: the request in flight got ${seen.slow}`);
      if (seen.end !== 0) wrong.push(`${what}: ended with ${seen.end}`);
      if (outcome !== "drained" || requests.accepted !== 3 || requests.completed !== 3) {
        wrong.push(`${what}: record ${JSON.stringify({ outcome, requests })}`);
      }
      if (what !== "auto" && foreign?.length !== 1) wrong.push(`${what}: foreign ${JSON.stringify(foreign)}`);
    }
    const cell = (seen) => `${seen.slow ?? "-"}, exit ${seen.end ?? "-"}`;
    console.log(
      `${name.padEnd(10)} ${version.padEnd(10)} ${(isSame(bare) && isSame(both) ? "same" : "differs").padEnd(12)} ${cell(alone).padEnd(20)} ${cell(bare).padEnd(18)} ${cell(both).padEnd(18)} ${wrong.length === 0 ? "kept" : "BROKEN"}`,
    );
    problems.push(...wrong.map((text) => `${name} ${version}: ${text}`));
  }
}
rmSync(scratch, { recursive: true, force: true });
problems.forEach((text) => console.log(`  ${text}`));
console.log(problems.length === 0 ? "every row kept" : `${problems.length} broken`);
process.exit(problems.length === 0 ? 0 : 1);
