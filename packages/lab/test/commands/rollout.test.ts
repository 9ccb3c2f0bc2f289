// The command as its users run it: real processes, few and named by what they do.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { LedgerRecord } from "../../src/ledger/records.ts";
import { realNginx, realRouter } from "../real-parts.ts";
import { allGone } from "../processes.ts";
import type { Verdict } from "../../src/verdict/verdict.ts";
import { makeFolder } from "../folder.ts";
import { folderWith, LASTCALL, startLastcall, type Done, type Running } from "./lastcall.ts";

const POLITE = fileURLToPath(new URL("../fixtures/polite.js", import.meta.url));
const [nginx, haproxy] = [await realNginx(), await realRouter("haproxy")];
/** What it says of itself is all that is asked of it. */
const OLD_HAPROXY = path.join(makeFolder("old"), "haproxy");
writeFileSync(OLD_HAPROXY, "#!/bin/sh\necho 'HAProxy version 2.2.9-1 2022/01/01'\n", { mode: 0o755 });

function start(
  args: readonly string[],
  env: Record<string, string> = {},
  config?: object,
): Running & { readonly folder: string } {
  const folder = folderWith(config, "rollout");
  return { folder, ...startLastcall(["rollout", ...args], { cwd: folder, env }) };
}

const run = (...args: Parameters<typeof start>): Promise<Done> => start(...args).done;

function ledgerOf(folder: string): readonly LedgerRecord[] {
  return readFileSync(path.join(folder, "ledger.ndjson"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as LedgerRecord);
}

/** On a machine that is too busy a run proves nothing, says so, and leaves with 4: all else still holds. */
function assertCode(done: Done, code: number): void {
  const busy = done.code === 4 && /dispatch lag|too busy/.test(done.out);
  assert.ok(done.code === code || busy, `${done.code}, not ${code}\n${done.err}${done.out}`);
}

/** Every process whose command line or environment names this folder: copies, nginx and its workers. */
function processesOf(folder: string): readonly number[] {
  return execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(folder) && !line.includes(LASTCALL))
    .map((line) => Number(line.trim().split(/\s+/)[0]));
}

/** Resolves when the ledger has seen the event. */
async function seen(folder: string, event: string): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (
      existsSync(path.join(folder, "ledger.ndjson")) &&
      readFileSync(path.join(folder, "ledger.ndjson"), "utf8").includes(`"event":"${event}"`)
    ) {
      return;
    }
    await sleep(50);
  }
  throw new Error(`never seen: ${event}`);
}

describe(
  "what cannot be run is refused with its code, what was seen and the next step",
  { concurrency: 2 },
  () => {
    const refusals: readonly (readonly [
      string,
      readonly string[],
      number,
      RegExp,
      Record<string, string>?,
    ])[] = [
      ["an unknown flag", ["--raet", "5"], 2, /no flag --raet.*\n.*Did you mean --rate\?.*\[LAB_USAGE\]/],
      ["an unknown scenario", ["--scenario", "drian"], 2, /Did you mean drain\?.*\[LAB_OPTION\]/],
      ["a rate of 0", ["--rate", "0"], 2, /--rate 0 is out of range/],
      [
        "nginx, which is not there",
        ["--router", "nginx"],
        3,
        /nginx was asked for and not found at \/nowhere\/nginx.*\n.*--router embedded.*\[LAB_ROUTER_MISSING\]/,
        { LASTCALL_NGINX: "/nowhere/nginx" },
      ],
      [
        "a router that is too old",
        ["--router", "haproxy"],
        3,
        /HAProxy 2\.2\.9; the lab can drive 2\.6 and later.*\[LAB_ROUTER_VERSION\]/s,
        { LASTCALL_HAPROXY: OLD_HAPROXY },
      ],
      [
        "what a router cannot do",
        ["--router", "nginx", "--removal", "readiness"],
        2,
        /nginx cannot do --removal readiness.*\n.*--router embedded, haproxy or caddy.*\[LAB_ROUTER_CANNOT\]/,
      ],
      [
        "a load file that is not there",
        ["--load", "mix.json"],
        2,
        /--load mix\.json cannot be read.*\[LAB_LOAD_PLAN\]/s,
      ],
      [
        "a witness in what is no Node program",
        [
          "--router",
          "embedded",
          "--witness",
          "import",
          "--",
          "env",
          "-u",
          "NODE_OPTIONS",
          process.execPath,
          POLITE,
        ],
        3,
        /Copy [AB] is ready and has not loaded the witness.*\n.*--witness shim.*\[LAB_WITNESS\]/,
      ],
      [
        "a folder that cannot be made",
        ["--router", "embedded", "--out", "/dev/null/run"],
        3,
        /\/dev\/null\/run cannot be made.*\n.*--out.*\[LAB_RUN_FOLDER\]/,
      ],
      [
        "a command that does not exist",
        ["--router", "embedded", "--", "/nowhere/app"],
        3,
        /'\/nowhere\/app' could not be started.*\[LAB_TARGET_NOT_STARTED\]/s,
      ],
      [
        "a command that dies at its start",
        ["--router", "embedded", "--", process.execPath, "-e", "console.log('no database'); process.exit(9)"],
        3,
        /ended before it was ready \(exit code 9\).*no database.*\[LAB_TARGET_DIED\]/s,
      ],
      [
        "a command that never becomes ready",
        [
          "--router",
          "embedded",
          "--ready-timeout",
          "1500ms",
          "--",
          process.execPath,
          "-e",
          "setInterval(Boolean, 999)",
        ],
        3,
        /not ready within 1\.5 s.*ECONNREFUSED.*\[LAB_TARGET_NOT_READY\]/s,
      ],
    ];
    for (const [name, args, code, words, env] of refusals) {
      test(name, async () => {
        const done = await run(args, env);
        assert.equal(done.code, code, done.err);
        assert.match(done.err, words);
        assert.equal(done.out, "");
      });
    }

    test("a configuration with an unknown key", async () => {
      const done = await run([], {}, { rollout: { raet: 5 } });
      assert.equal(done.code, 2);
      assert.match(done.err, /unknown key rollout\.raet.*\n.*Did you mean rate\?.*\[LAB_CONFIG\]/);
    });

    test("--help says the flags and the exit codes, and leaves with 0", async () => {
      const done = await run(["--help"]);
      assert.equal(done.code, 0);
      assert.match(done.out, /--upstream-keepalive.*Exit codes: 0 .* 130 interrupted/s);
    });
  },
);

describe("a rolling restart", { concurrency: 2 }, () => {
  test("R1 a polite stranger loses nothing: exit 0, rows = 201s, and JSON that says so", async () => {
    const folder = makeFolder("done");
    const done = await run(
      [
        "--json",
        "--html",
        path.join(folder, "pages/polite.html"),
        "--attempts",
        "3",
        "--get",
        "/items/{id}",
        "--",
        process.execPath,
        POLITE,
        "--drain={drainDelay}",
      ],
      { EXECUTED: path.join(folder, "done.txt") },
      { rollout: { router: "embedded", post: "/items", executed: path.join(folder, "done.txt"), rate: 30 } },
    );
    assertCode(done, 0);
    assert.match(
      readFileSync(path.join(folder, "pages/polite.html"), "utf8"),
      /<h1>Nothing was lost|<h1>This run/,
    );
    const document = JSON.parse(done.out) as {
      exitCode: number;
      rows: readonly {
        shown: boolean;
        sent: number;
        acknowledged: number;
        rows: number;
        judgedStrictly: boolean;
      }[];
    };
    const [row] = document.rows;
    assert.ok(row !== undefined);
    assert.ok((row.shown || done.code === 4) && row.judgedStrictly);
    assert.ok(row.sent > 150, String(row.sent));
    assert.ok(row.acknowledged > 50 && row.acknowledged === row.rows, `${row.acknowledged} ${row.rows}`);
  });

  test(
    "behind HAProxy, with a shim and a mix of one's own: each request is seen where it arrived",
    { skip: haproxy === null },
    async () => {
      const folder = makeFolder("mix");
      const mix = path.join(folder, "mix.json");
      writeFileSync(
        mix,
        JSON.stringify({
          mix: [
            { name: "read", path: "/items/{id}" },
            { name: "write", method: "POST", path: "/items", body: { id: "{id}" } },
            {
              name: "upload",
              method: "POST",
              path: "/items",
              connection: "fresh",
              upload: { bytes: "1MB", framing: "chunked" },
            },
          ],
        }),
      );
      const own = ["--router", "haproxy", "--witness", "shim", "--load", mix, "--client-keepalive"];
      const command = ["--", process.execPath, POLITE, "--drain={drainDelay}"];
      const done = await run(["--json", "--attempts", "3", ...own, ...command]);
      assertCode(done, 0);
      const [row] = (JSON.parse(done.out) as { rows: readonly { verdict: Verdict }[] }).rows;
      const { witness, requests } = row?.verdict ?? {};
      assert.equal(witness?.arrivals, requests?.sent);
      assert.deepEqual(witness?.executedTwice, []);
      assert.ok((requests?.post.sent ?? 0) > (requests?.get.sent ?? 0));
    },
  );

  test("a stranger that ignores its stop signal is killed when the grace period is over, and named: exit 1", async () => {
    const done = await run(["--router", "embedded", "--grace", "4s", "--", process.execPath, POLITE], {
      STUBBORN: "1",
    });
    assertCode(done, 1);
    if (done.code === 1) {
      assert.match(done.out, /A, B did not stop and had to be killed/);
    }
    assert.match(done.out, /A was still there 4s after its stop signal and was killed/);
  });

  test("Ctrl-C ends copies and router, keeps the ledger so far, and leaves with 130", async () => {
    const { child, folder, done } = start(["--out", "run", ...(nginx === null ? [] : ["--router", "nginx"])]);
    const runFolder = path.join(folder, "run");
    await seen(runFolder, "signal");
    const pids = processesOf(folder);
    assert.ok(pids.length >= 2, `copies and router run: ${pids.join(" ")}`);
    child.kill("SIGINT");
    const { code, err, out } = await done;
    assert.equal(code, 130, err);
    assert.match(err, /Interrupted.*run/);
    assert.match(readFileSync(path.join(runFolder, "report.html"), "utf8"), /The run was interrupted/);
    assert.equal(out, "");
    await allGone(pids);
    const records = ledgerOf(runFolder);
    assert.equal(records[0]?.kind, "run");
    assert.ok(records.some((record) => record.kind === "request"));
    const last = records.at(-1);
    assert.ok(last?.kind === "end" && last.reason === "interrupted");
  });

  test("a lab that is ended by SIGKILL leaves neither copies nor router behind", async () => {
    const { child, folder, done } = start(["--out", "run", ...(nginx === null ? [] : ["--router", "nginx"])]);
    await seen(path.join(folder, "run"), "load-started");
    const pids = processesOf(folder);
    assert.ok(pids.length >= 2, `copies and router run: ${pids.join(" ")}`);
    child.kill("SIGKILL");
    await done;
    await allGone(pids);
  });
});
