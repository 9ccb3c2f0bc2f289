// `npm run frameworks`: each framework's own hello example, with and without `--import lastcall/auto`. A row is kept when
// the example answers the same with and without, a request in flight at SIGTERM is answered whole with auto, with and
// without the framework's own stop handler, and the process exits 0, or as that handler asks, with a record that counts it.
// Installs what is missing.
// Usage: node scripts/frameworks.mjs [--node PATH]... [NAME]...
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { answers, freePort, recordsIn, Show, versionOf } from "./show.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, "tools/frameworks");
const AUTO = pathToFileURL(path.join(root, "packages/lastcall/dist/src/auto.js")).href;

const NAMES = ["http", "https", "express", "fastify", "koa", "hono", "nest", "next"];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string", multiple: true } },
});
const names = positionals.length === 0 ? NAMES : positionals;
const scratch = mkdtempSync(path.join(tmpdir(), "lastcall-frameworks-"));
const tls = { TLS_KEY: path.join(scratch, "key.pem"), TLS_CERT: path.join(scratch, "cert.pem") };

function mustRun(command, args, options) {
  const done = spawnSync(command, args, { cwd: folder, encoding: "utf8", ...options });
  if (done.status !== 0)
    throw new Error(`${command} ended with ${done.status}: ${done.stdout}${done.stderr}`);
}

/** Everything is there to be started. */
function prepare() {
  const installed = path.join(folder, "node_modules");
  if (!names.every((name) => !(name in PACKAGES) || existsSync(path.join(installed, PACKAGES[name])))) {
    mustRun("npm", ["ci", "--no-fund", "--no-audit"], { stdio: "inherit" });
  }
  if (names.includes("https")) {
    const asked =
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1";
    mustRun("openssl", [...asked.split(" "), "-keyout", tls.TLS_KEY, "-out", tls.TLS_CERT]);
  }
  if (names.includes("next")) {
    mustRun(process.execPath, [path.join(installed, "next/dist/bin/next"), "build", "next"], {
      env: { PATH: process.env.PATH, HOME: scratch, NEXT_TELEMETRY_DISABLED: "1", CI: "1" },
    });
    // As its page says: the build leaves these to whoever deploys it.
    cpSync(
      path.join(folder, "next/.next/static"),
      path.join(folder, "next/.next/standalone/next/.next/static"),
      {
        recursive: true,
      },
    );
  }
}

/** The exit code of a framework's own handler, where it is not 0. */
const ASKED = { next: 143 };

/** What must be installed for each, beside Node. */
const PACKAGES = {
  express: "express",
  fastify: "fastify",
  koa: "koa",
  hono: "hono",
  nest: "@nestjs/core",
  next: "next",
};

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

/** Our examples choose their port and print it; Next.js's own server is told one, and handles SIGTERM unless told not to. */
async function program(name, own) {
  if (name !== "next") {
    return { file: path.join(folder, "hello", `${name}.mjs`), env: own ? { OWN_HANDLER: "1" } : {} };
  }
  const port = await freePort();
  return {
    file: path.join(folder, "next/.next/standalone/next/server.js"),
    env: {
      PORT: String(port),
      HOSTNAME: "127.0.0.1",
      NEXT_TELEMETRY_DISABLED: "1",
      ...(own ? {} : { NEXT_MANUAL_SIG_HANDLE: "true" }),
    },
    port,
  };
}

/** Starts the example, asks it, stops it with a request in flight, and tells what was seen. */
async function run(node, name, { auto, own }) {
  const { file, env, port: told } = await program(name, own);
  const child = spawn(node, [...(auto ? ["--import", AUTO] : []), file], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, ...tls, ...env, ...(auto ? { LASTCALL_DRAIN_DELAY: "200ms" } : {}) },
  });
  const closed = once(child, "close");
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  let stdout = "";
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  const said = new Promise((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      const port = /listening (\d+)/.exec(stdout)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
  const listening = told === undefined ? said : answers(told).then(() => told);
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
  return { hello, slow: answer.status, end: code ?? signal, record: recordsIn(stderr).at(-1), stderr };
}

function judge(name, alone, bare, both) {
  const wrong = [];
  const isSame = (one) => JSON.stringify(one.hello) === JSON.stringify(alone.hello);
  if (alone.hello.status !== 200) wrong.push(`hello: ${JSON.stringify(alone.hello)}`);
  if (!isSame(bare) || !isSame(both))
    wrong.push(`the answer differs: ${JSON.stringify([alone.hello, bare.hello, both.hello])}`);
  // Where we could not read the port from what it says, we had asked once more to see that it answers.
  const count = name === "next" ? 4 : 3;
  for (const [what, seen] of Object.entries({ auto: bare, "auto + own handler": both })) {
    const { outcome, requests, foreign } = seen.record ?? {};
    if (seen.slow !== 200) wrong.push(`${what}: the request in flight got ${seen.slow}`);
    // The exit code that a handler asked for is given once the stop is through.
    const asked = what === "auto" ? 0 : (ASKED[name] ?? 0);
    if (seen.end !== asked) wrong.push(`${what}: ended with ${seen.end}, not ${asked}`);
    if (outcome !== "drained" || requests.accepted !== count || requests.completed !== count) {
      wrong.push(`${what}: record ${JSON.stringify({ outcome, requests })}`);
    }
    if (what !== "auto" && foreign?.length !== 1) wrong.push(`${what}: foreign ${JSON.stringify(foreign)}`);
  }
  return wrong;
}

const show = new Show(names);
try {
  prepare();
  for (const node of values.node ?? [process.execPath]) {
    for (const name of names) {
      const alone = await run(node, name, { auto: false, own: true });
      const bare = await run(node, name, { auto: true, own: false });
      const both = await run(node, name, { auto: true, own: true });
      const cell = (seen) => `${seen.slow ?? "-"} exit ${seen.end ?? "-"}`;
      const seen = `its own handler alone: ${cell(alone)}; auto: ${cell(bare)}; auto and its handler: ${cell(both)}`;
      show.row(name, versionOf(node), seen, judge(name, alone, bare, both));
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = show.end();
