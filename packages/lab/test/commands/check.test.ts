// `lastcall check` as a newcomer runs it: nothing is said of the service but its command.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import type { Comparison } from "../../src/check/compare.ts";
import { allGone } from "../processes.ts";
import { startLastcall, type Running } from "./lastcall.ts";

/** Closes its server on SIGTERM, as most services do, and answers /slow after 700 ms. */
const NAIVE = `
const server = require("node:http").createServer((request, response) => {
  if (request.url === "/slow") setTimeout(() => response.end("slow"), 700);
  else if (request.url === "/") response.end("hello");
  else response.writeHead(404).end();
});
server.listen(process.env.FIXED_PORT || process.env.PORT, "127.0.0.1");
process.on("SIGTERM", () => server.close(() => process.exit(0)));
console.log("pid " + process.pid);
`;

const start = (args: readonly string[], env: Record<string, string> = {}): Running =>
  startLastcall(["check", ...args], { env });

test("check finds port and route of a naive service, sees its pooled connections lost and exits 1", async () => {
  const { code, out, err } = await start(["--json", "--slow", "/slow", "--", "node", "-e", NAIVE]).done;
  assert.equal(code, 1, err);
  const { today, withLastcall, why, paste } = JSON.parse(out) as Comparison;
  assert.equal(today.route, "/");
  assert.deepEqual(today.observation.inFlight, { answered: 1, refused: 0, lost: 0 });
  assert.equal(today.observation.pooled?.lost, 10);
  // What waits in its accept queue when it closes is reset: one may be, on a busy machine.
  assert.ok(today.observation.fresh.refused > today.observation.fresh.lost);
  assert.equal(today.observation.exit?.code, 0);
  // The same service with one word more on its command line.
  assert.equal(paste.startsWith("node --import lastcall/auto -e"), true, paste);
  assert.ok(withLastcall, why ?? "");
  assert.deepEqual(withLastcall.observation.pooled, { answered: 10, refused: 0, lost: 0 });
  assert.equal(withLastcall.observation.fresh.lost + withLastcall.observation.halfSent.lost, 0);
  assert.notEqual(withLastcall.observation.notReadyMs, null);
  assert.equal(withLastcall.observation.exit?.code, 0);
});

test("check prints a table with the command's own words", async () => {
  const { out } = await start(["--", "node", "-e", NAIVE]).done;
  assert.match(out, /What one SIGTERM does/);
  assert.match(out, /next request of pooled connections +✗ 10 of 10 lost/);
  assert.match(out, /a request in flight +· not tried: see --slow/);
});

test("check finds the pool lost that a service closes a moment late, as those that look for the signal now and then", async () => {
  const late = NAIVE.replace("() => server.close", "() => setTimeout(() => server.close").replace(
    /exit\(0\)\)\);/,
    "exit(0)), 105));",
  );
  const { out, err } = await start(["--json", "--", "node", "-e", late]).done;
  const { today } = JSON.parse(out) as Comparison;
  assert.ok((today.observation.pooled?.lost ?? 0) > 0, err + out);
});

test("check says to a service with lastcall and without a drain delay why new connections were refused", async () => {
  const auto = import.meta.resolve("lastcall/auto");
  const { out } = await start(["--", "node", "--import", auto, "-e", NAIVE]).done;
  assert.match(out, /it runs with lastcall already/);
  assert.match(out, /refused since its drain delay is shorter[\s\S]*LASTCALL_DRAIN_DELAY/);
});

test(
  "check looks for the port of a service that does not take ours",
  { skip: process.platform !== "linux" },
  async () => {
    const { code, out, err } = await start(["--json", "--", "node", "-e", NAIVE], { FIXED_PORT: "0" }).done;
    assert.equal(code, 1, err);
    assert.notEqual((JSON.parse(out) as Comparison).today.port, 0);
  },
);

test("check says what a service printed that dies at start", async () => {
  const { code, err } = await start(["--", "node", "-e", "console.log('no database'); process.exit(9)"]).done;
  assert.equal(code, 3);
  assert.match(err, /no database[\s\S]*LAB_TARGET_DIED/);
});

test("check calls no pool lost that a service never had, and does not offer Node's line to another language", async () => {
  const closes = NAIVE.replace(
    'response.end("hello")',
    'response.setHeader("Connection", "close").end("hello")',
  );
  const { out } = await start(["--json", "--", "node", "-e", closes]).done;
  assert.equal((JSON.parse(out) as Comparison).today.observation.pooled, null);
  const python = await start(["--", "python3", "-m", "http.server", "--bind", "127.0.0.1", "{port}"]).done;
  assert.match(python.out, /none: it keeps no connection open/);
  assert.match(python.out, /No second column: this does not run on Node/);
  assert.doesNotMatch(python.out, /NODE_OPTIONS/);
});

test("check says that a wrapper kept the signal, and where a service listens that does not answer", async () => {
  const wrapped = await start(["--", "sh", "-c", `node -e '${NAIVE.replaceAll(/\s+/g, " ")}'; true`]).done;
  assert.equal(wrapped.code, 1);
  assert.match(wrapped.out, /exit +✗ left its service behind/);
  assert.match(
    wrapped.out,
    /The signal reached a wrapper[\s\S]* left after \d\.\d\d s[\s\S]*still\son\sport\s\d+/,
  );
  assert.deepEqual(
    wrapped.out.split("\n").filter((line) => line.length > 100),
    [],
  );
  const elsewhere = NAIVE.replace('"127.0.0.1"', '"::1"');
  const { code, err } = await start(["--ready-timeout", "3s", "--", "node", "-e", elsewhere]).done;
  assert.equal(code, 3);
  assert.match(err, /It listens on port \d+, where GET http:\/\/127\.0\.0\.1:\d+\/ gives ECONNREFUSED/);
});

test("check refuses what it does not understand, with a next step", async () => {
  const wrong: readonly [readonly string[], RegExp][] = [
    [[], /needs a command[\s\S]*LAB_USAGE/],
    [["--route", "health", "--", "node"], /A path begins with \/[\s\S]*LAB_OPTION/],
    [["--signal", "SIGKILL", "--", "node"], /Stop signals are[\s\S]*LAB_OPTION/],
    [["--patience", "5", "--", "node"], /--patience is '5'[\s\S]*LAB_OPTION/],
    // Longer than a timer of Node can be, which would end at once.
    [
      ["--patience", "600h", "--", "node"],
      /--patience 600h is out of range[\s\S]*at most 10m[\s\S]*LAB_OPTION/,
    ],
    [["--rout", "/x", "--", "node"], /Did you mean --route\?[\s\S]*LAB_USAGE/],
  ];
  for (const [args, message] of wrong) {
    const { code, err } = await start(args).done;
    assert.equal(code, 2, args.join(" "));
    assert.match(err, message);
  }
});

test("Ctrl-C in the middle of a check leaves no process behind", async () => {
  // Never listens, so that the check is still waiting when it is interrupted.
  const { child, done } = start(["--", "node", "-e", "setInterval(() => {}, 1000)"]);
  await once(child.stderr as NodeJS.ReadableStream, "data");
  const service = await childOf(child.pid ?? 0);
  child.kill("SIGINT");
  assert.equal((await done).code, 130);
  await allGone([service]);
});

/** The node process that the check has started; it appears after the line that announces it. */
async function childOf(parent: number): Promise<number> {
  for (;;) {
    const listing = spawn("ps", ["-o", "pid=,args=", "--ppid", String(parent)], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let text = "";
    listing.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
    await once(listing, "close");
    const found = text.split("\n").find((line) => line.includes("setInterval"));
    if (found !== undefined) {
      return Number(found.trim().split(/\s+/)[0]);
    }
  }
}
