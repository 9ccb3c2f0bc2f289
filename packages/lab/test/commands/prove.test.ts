// `lastcall prove` as its users run it, on a service of which little is said.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { allGone, childrenOf } from "../processes.ts";
import { describeSubject } from "../../src/prove/description.ts";
import { chooseClauses } from "../../src/prove/prove.ts";
import { renderProof } from "../../src/render/prove.ts";
import { PLAIN } from "../../src/render/style.ts";
import { folderWith, startLastcall, type Done, type Running } from "./lastcall.ts";

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

/** Knows the right routes only, and answers one of them with something that is not HTTP. */
const PICKY = `
require("node:http").createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://x");
  if (pathname === "/garbage") request.socket.end("hello there\\r\\n\\r\\n");
  else response.writeHead(pathname === "/" || pathname === "/slow" ? 200 : 404).end();
}).listen(process.env.PORT, "127.0.0.1");
`;

function start(args: readonly string[], config?: object): Running & { readonly folder: string } {
  const folder = folderWith(config, "prove");
  return { folder, ...startLastcall(["prove", ...args], { cwd: folder }) };
}

async function prove(args: readonly string[], config?: object): Promise<Done & { readonly folder: string }> {
  const { done, folder } = start(args, config);
  return { ...(await done), folder };
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

test("a service that its signal has ended is told so, and no exit code is made up for it", async () => {
  const ended = NAIVE.replace(
    "process.exit(0)",
    '(process.removeAllListeners("SIGTERM"), process.kill(process.pid, "SIGTERM"))',
  );
  const closing = ended.replace(
    'response.end("slow")',
    'response.setHeader("Connection", "close").end("slow")',
  );
  const { code, out } = await prove([
    "--only",
    "B1",
    "--slow",
    "/slow?seconds={seconds}",
    "--",
    "node",
    "-e",
    closing,
  ]);
  assert.equal(code, 1, out);
  assert.match(out, /✗ B1[\s\S]*It was ended by SIGTERM\./);
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

test("prove prints what it found though a report cannot be written", async () => {
  const { code, out, err } = await prove([
    "--only",
    "B5",
    "--junit",
    "nowhere/proof.xml",
    "--",
    "node",
    "-e",
    NAIVE,
  ]);
  assert.equal(code, 3);
  assert.match(out, /B5/);
  assert.match(err, /nowhere\/proof\.xml cannot be written.*\n.*\[LAB_OUTPUT\]/);
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
  const told = await prove(["--only", "A6", "--upload", "/", "--", "node", "-e", reads]);
  assert.match(told.out, /No slow route: in A6 a request was made long by holding half of its body back/);
});

test("prove makes a request long by reading its answer late where only a large one is named", async () => {
  const large = NAIVE.replace(
    "else response.end",
    "else if (url.pathname === '/bulk') response.end(Buffer.alloc(Number(url.searchParams.get('bytes')))); else response.end",
  );
  const bulk = ["--bulk", "/bulk?bytes={bytes}", "--", "node", "-e", large];
  const { code, out, err } = await prove(["--only", "A6,E4", ...bulk]);
  assert.equal(code, 1, out + err);
  // Node's own close takes a response whose last bytes are still on their way for an idle connection.
  assert.match(out, /✗ A6[\s\S]*200, cut short \(fin\)/);
  assert.match(out, /E4 not judged: the description names no routes\.slow/);
  assert.match(out, /No slow route: in A6 a request was made long by reading its answer late/);
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

const WITH_LIBRARY = `
import { createServer } from "node:http";
import { createLifecycle } from ${JSON.stringify(import.meta.resolve("lastcall"))};
const life = createLifecycle();
const server = createServer((request, response) => response.end("hello"));
life.http(server);
server.listen(Number(process.env.PORT), "127.0.0.1", () => life.ready());
`;

test("a long clause is wrapped for a terminal of 100 columns", () => {
  const [clause] = chooseClauses("B8", undefined);
  assert.ok(clause !== undefined && clause.title.length > 100);
  const kept = { clause, judgement: { kind: "kept", measured: {} }, tookMs: 1 } as const;
  const subject = describeSubject({ name: "it" }, ["node"], {});
  const lines = renderProof({ subject, proven: [kept], tookMs: 1 }, PLAIN).split("\n");
  assert.deepEqual(
    lines.filter((line) => line.length > 100),
    [],
  );
  assert.ok(lines.includes("         than the linger window"));
});

test("prove sees that a service runs with lastcall, says how more is judged, and judges more then", async () => {
  const command = ["--", "node", "--input-type=module", "-e", WITH_LIBRARY];
  const unsaid = await prove(["--only", "A3", ...command]);
  assert.match(unsaid.out, /A3 not judged: its drain delay is fixed/);
  assert.match(unsaid.out, /It runs with lastcall: with --library lastcall/);
  const said = await prove(["--only", "A3", "--library", "lastcall", ...command]);
  assert.match(said.out, /✓ A3 /);
  assert.doesNotMatch(said.out, /It runs with lastcall/);
  const other = await prove(["--library", "express", ...command]);
  assert.equal(other.code, 2);
  assert.match(other.err, /Only lastcall is known[\s\S]*LAB_CONFIG/);
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
    "--",
    "node",
    "-e",
    "console.log('no database'); process.exit(9)",
  ]);
  assert.equal(code, 3, err);
  assert.match(err, /ended \(exit code 9\) before it served[\s\S]*no database[\s\S]*LAB_TARGET_DIED/);
  const absent = await prove(["--only", "B5", "--", "no-such-program"]);
  assert.equal(absent.code, 3, absent.err);
  assert.match(absent.err, /'no-such-program' could not be started[\s\S]*LAB_TARGET_NOT_STARTED/);
});

test("prove says which route does not answer as it is described, before it judges anything", async () => {
  const slow = "/slow?seconds={seconds}";
  const missing = await prove([
    "--only",
    "B5",
    "--ordinary",
    "/no",
    "--slow",
    slow,
    "--",
    "node",
    "-e",
    PICKY,
  ]);
  assert.equal(missing.code, 3, missing.err);
  assert.match(
    missing.err,
    /answers GET \/no with 404 instead of 200[\s\S]*--ordinary[\s\S]*LAB_ROUTE_REFUSED/,
  );
  const garbage = await prove(["--ordinary", "/garbage", "--ready", "/", "--", "node", "-e", PICKY]);
  assert.equal(garbage.code, 3, garbage.err);
  const hasty = await prove(["--only", "A6", "--upload", "/", "--", "node", "-e", PICKY]);
  assert.equal(hasty.code, 3, hasty.err);
  assert.match(hasty.err, /answered 200 before the body had come[\s\S]*--slow[\s\S]*LAB_ROUTE_REFUSED/);
  assert.match(garbage.err, /gave no answer in HTTP[\s\S]*LAB_ROUTE_REFUSED/);
});

test("a service without a route at / is asked for its slow route with 0 seconds, where that answers at once", async () => {
  const rootless = NAIVE.replace(
    'else response.end("hello")',
    'else response.writeHead(url.pathname === "/up" ? 200 : 404).end()',
  );
  const slow = ["--ready", "/up", "--slow", "/slow?seconds={seconds}"];
  const { code, out, err } = await prove(["--only", "B5", ...slow, "--", "node", "-e", rootless]);
  assert.equal(code, 0, out + err);
  assert.match(out, /✓ B5/);
  const none = await prove(["--only", "B7", "--ready", "/up", "--", "node", "-e", rootless]);
  assert.match(none.err, /ordinary route GET \/ .* answered 404[\s\S]*--ordinary/);
});

test("Ctrl-C in the middle of a proof leaves at once, with no process behind", async () => {
  const { child, done } = start([
    "--only",
    "A7,C1,B2,G3",
    "--slow",
    "/slow?seconds={seconds}",
    "--",
    "node",
    "-e",
    NAIVE,
  ]);
  const pids = await new Promise<number[]>((resolve) => {
    const seen: number[] = [];
    const look = setInterval(() => {
      const now = childrenOf(child.pid ?? 0);
      seen.splice(0, seen.length, ...now);
      if (now.length >= 4) {
        clearInterval(look);
        resolve(seen);
      }
    }, 30);
  });
  const askedAt = performance.now();
  child.kill("SIGINT");
  const { code } = await done;
  assert.equal(code, 130);
  assert.ok(performance.now() - askedAt < 4000, "it does not wait for its judges");
  await allGone(pids);
});

test("prove does not wait for what a service that went into the background holds open", async () => {
  const { code, err } = await prove(["--", "/bin/sh", "-c", "sleep 600 & echo started"]);
  assert.equal(code, 3);
  assert.match(
    err,
    /ended \(exit code 0\) before it served.*\n.*started\n.*keep it in the foreground.*\[LAB_TARGET_DIED\]/,
  );
});
