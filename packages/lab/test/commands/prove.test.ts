// `lastcall prove` as its users run it, on a service of which little is said.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const LASTCALL = fileURLToPath(new URL("../../../bin/lastcall.js", import.meta.url));

/** Closes its server on SIGTERM and exits when it has closed. */
const NAIVE = `
const server = require("node:http").createServer((request, response) => {
  const url = new URL(request.url, "http://x");
  if (url.pathname === "/slow") setTimeout(() => response.end("slow"), 1000 * url.searchParams.get("seconds"));
  else response.end("hello");
});
server.listen(process.env.PORT, "127.0.0.1");
process.on("SIGTERM", () => server.close(() => process.exit(0)));
`;

interface Done {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly folder: string;
}

async function prove(args: readonly string[], config?: object): Promise<Done> {
  const folder = mkdtempSync(path.join(tmpdir(), "lastcall-prove-"));
  if (config !== undefined) {
    writeFileSync(path.join(folder, "lastcall.config.json"), JSON.stringify(config));
  }
  const child = spawn(process.execPath, [LASTCALL, "prove", ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => (out += part));
  child.stderr.setEncoding("utf8").on("data", (part: string) => (err += part));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err, folder };
}

interface ProofJson {
  readonly counts: { readonly kept: number; readonly broken: number; readonly notJudged: number };
  readonly clauses: readonly {
    readonly id: string;
    readonly kind: string;
    readonly why?: string;
    readonly todo?: string;
    readonly trace?: readonly object[];
  }[];
}

test("prove finds the pooled connection of a naive service broken, with its trace, and keeps what it keeps", async () => {
  const slow = "/slow?seconds={seconds}";
  const { code, out, err } = await prove([
    "--only",
    "A3,A5,B6,C4",
    "--json",
    "--junit",
    "proof.xml",
    "--markdown",
    "proof.md",
    "--slow",
    slow,
    "--",
    "node",
    "-e",
    NAIVE,
  ]);
  assert.equal(code, 1, err);
  const { clauses, counts } = JSON.parse(out) as ProofJson;
  const by = Object.fromEntries(clauses.map((clause) => [clause.id, clause]));
  assert.equal(by["A5"]?.kind, "broken");
  assert.ok((by["A5"]?.trace?.length ?? 0) > 3);
  assert.match(by["A5"]?.todo ?? "", /linger window/);
  assert.equal(by["B6"]?.kind, "kept");
  assert.match(by["A3"]?.why ?? "", /drain delay is fixed at 0 ms/);
  assert.deepEqual({ ...counts }, { kept: 1, broken: 1, notJudged: 2 });
});

test("prove writes JUnit and Markdown beside what it prints", async () => {
  const { code, out, folder } = await prove([
    "--only",
    "B5",
    "--junit",
    "proof.xml",
    "--markdown",
    "proof.md",
    "--slow",
    "/slow?seconds={seconds}",
    "--",
    "node",
    "-e",
    NAIVE,
  ]);
  assert.equal(code, 0);
  assert.match(out, /✓ B5/);
  assert.match(
    readFileSync(path.join(folder, "proof.xml"), "utf8"),
    /<testsuite [^>]*tests="1" failures="0"/,
  );
  assert.match(readFileSync(path.join(folder, "proof.md"), "utf8"), /\| ✅ \| B5 \|/);
});

test("prove makes a request long by holding its body back where no slow route is named", async () => {
  const reads = NAIVE.replace(
    "else response.end",
    "else if (request.method === 'POST') request.resume().on('end', () => response.end('read')); else response.end",
  );
  const { code, out, err } = await prove([
    "--only",
    "A6",
    "--json",
    "--upload",
    "/",
    "--",
    "node",
    "-e",
    reads,
  ]);
  assert.equal(code, 0, out + err);
  assert.equal((JSON.parse(out) as ProofJson).clauses[0]?.kind, "kept");
});

test("prove takes the command and the routes from lastcall.config.json", async () => {
  const { code, out } = await prove(["--only", "B5"], {
    prove: {
      name: "the naive one",
      command: ["node", "-e", NAIVE],
      routes: { slow: "GET /slow?seconds={seconds}" },
    },
  });
  assert.equal(code, 0, out);
  assert.match(out, /the naive one/);
});

test("prove refuses what it does not understand, with a next step", async () => {
  const wrong: readonly [readonly string[], object | undefined, RegExp][] = [
    [[], undefined, /needs a command[\s\S]*LAB_USAGE/],
    [["--only", "A99", "--", "node"], undefined, /no such clause[\s\S]*LAB_OPTION/],
    [["--level", "cores", "--", "node"], undefined, /Levels are[\s\S]*LAB_OPTION/],
    [["--jobs", "0", "--", "node"], undefined, /LAB_OPTION/],
    [["--slow", "slow", "--", "node"], undefined, /A path begins with \/[\s\S]*LAB_OPTION/],
    [[], { prove: { command: ["node"], route: {} } }, /Did you mean routes\?[\s\S]*LAB_CONFIG/],
    [[], { prove: { command: ["node"], routes: { slow: "/slow" } } }, /GET \/path[\s\S]*LAB_CONFIG/],
    [[], { prove: { command: ["node"], settings: { drainDelay: "5s" } } }, /"env"[\s\S]*LAB_CONFIG/],
    [["--drain-delay", "5", "--", "node"], undefined, /LAB_CONFIG/],
  ];
  for (const [args, config, message] of wrong) {
    const { code, err } = await prove(args, config);
    assert.equal(code, 2, `${args.join(" ")} ${JSON.stringify(config)}: ${err}`);
    assert.match(err, message);
  }
});

test("prove says so when the service never comes up, and calls that no proof", async () => {
  const { code, err } = await prove([
    "--only",
    "B5",
    "--slow",
    "/slow",
    "--",
    "node",
    "-e",
    "console.log('no database')",
  ]);
  assert.equal(code, 3, err);
  assert.match(err, /no database[\s\S]*LAB_TARGET_NOT_READY/);
});
