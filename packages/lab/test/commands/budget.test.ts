/** The command `lastcall budget`: pictures, JSON, and snippets that lint clean whatever the numbers are. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { budgetCommand } from "../../src/commands/budget.ts";
import type { Io } from "../../src/commands/command.ts";
import { LabError } from "../../src/errors.ts";
import { EMITTERS } from "../../src/lint/emit/all.ts";
import { size } from "../../src/lint/emit/numbers.ts";
import { lint } from "../../src/lint/run.ts";
import { brief, lintFiles, withFiles } from "../lint/lint-files.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");

async function run(
  cwd: string,
  ...args: readonly string[]
): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const io: Io = {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    tty: false,
    env: {},
    cwd,
    interrupted: new AbortController().signal,
  };
  return { code: await budgetCommand.run(args, io), out, err };
}

const UNIT =
  "[Service]\nExecStart=/srv/orders\nTimeoutStopSec=30\nEnvironment=LASTCALL_DRAIN_DELAY=5s LASTCALL_GRACEFUL_TIMEOUT=15s LASTCALL_TEARDOWN_TIMEOUT=5s\n";

test("a workload is drawn from the stop decision to SIGKILL, with the origin of each part", async () => {
  await withFiles({ "orders.service": UNIT }, async (cwd) => {
    const { out, code } = await run(cwd);
    assert.equal(code, 0);
    const rows = out
      .split("\n")
      .filter((line) => /^ {2}(drain delay|graceful timeout|teardown timeout|left) /.test(line));
    // 57 columns of picture after the longest label: 10, 28, 9 and 9 of 56 for 5, 15, 5 and 5 of 30 s.
    assert.deepEqual(
      rows.map((row) => [row.match(/[░█▓·]/g)?.length, /\S+ s .*$|\S+ s$/.exec(row)?.[0]]),
      [
        [9, "5 s  orders.service:4"],
        [28, "15 s  orders.service:4"],
        [10, "5 s  orders.service:4"],
        [9, "5 s"],
      ],
    );
    assert.match(out, /SIGTERM at 0 s; SIGKILL at 30 s \(TimeoutStopSec, orders\.service:3\)/);
    assert.match(out, /Fits: 25 s of 30 s\./);
  });
});

test("what does not fit says by how much, and the exit code is 1", async () => {
  await withFiles({ "orders.service": UNIT.replace("=30", "=20") }, async (cwd) => {
    const { out, code } = await run(cwd);
    assert.equal(code, 1);
    assert.match(out, /killed before the end .*✗+.* 5 s too long/);
    assert.match(out, /Does not fit: 25 s of 20 s\. Raise TimeoutStopSec to 27 s or cut a part\./);
  });
});

test("unknown parts are shown as such, and no limit is no limit", async () => {
  await withFiles(
    {
      "a.service": "[Service]\nExecStart=/srv/a\n",
      "b.service": "[Service]\nExecStart=/srv/b\nTimeoutStopSec=infinity\n",
    },
    async (cwd) => {
      const { out, code } = await run(cwd);
      assert.equal(code, 0);
      assert.match(out, /not known +\?{56}┃ {2}90 s are there for it/);
      assert.match(out, /never SIGKILL/);
    },
  );
});

test("JSON has the sums, and SVG the picture", async () => {
  await withFiles({ "orders.service": UNIT }, async (cwd) => {
    const { out } = await run(cwd, "--json", "--svg", "out.svg");
    const { schema, workloads } = JSON.parse(out) as {
      schema: string;
      workloads: { sumMs: number; slackMs: number; items: { from: string }[] }[];
    };
    assert.equal(schema, "lastcall.budget/1");
    assert.deepEqual(
      [workloads[0]?.sumMs, workloads[0]?.slackMs, workloads[0]?.items.length],
      [25_000, 5000, 3],
    );
    const svg = readFileSync(path.join(cwd, "out.svg"), "utf8");
    assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    assert.equal(svg.match(/<rect /g)?.length, 5);
    assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
  });
});

test("each platform's snippet lints clean, notes included, for any four numbers", () => {
  const seconds = fc.integer({ min: 0, max: 600_000 });
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(EMITTERS)),
      seconds,
      seconds,
      seconds,
      seconds,
      (platform, routerLagMs, longestRequestMs, teardownMs, startMs) => {
        const sized = size({
          routerLagMs,
          longestRequestMs,
          teardownMs,
          startMs,
          name: "orders",
          image: "orders:1",
          port: 8080,
        });
        const emitter = EMITTERS[platform];
        assert.ok(emitter !== undefined);
        const allowed =
          platform === "kubernetes" && sized.gracePeriodMs > 600_000 ? ["k8s/grace-excessive"] : [];
        const found = lintFiles({ [emitter.file]: emitter.write(sized) }).findings.filter(
          ({ rule }) => !allowed.includes(rule),
        );
        assert.deepEqual(
          found.map(({ rule, message }) => `${rule} ${message}`),
          [],
        );
      },
    ),
    { numRuns: 150 },
  );
});

test("the sum of a snippet is the grace period less a margin that is at least 2 s or a tenth", () => {
  const sized = size({
    routerLagMs: 4200,
    longestRequestMs: 15_000,
    teardownMs: 300,
    startMs: 0,
    name: "a",
    image: "a",
    port: 1,
  });
  assert.deepEqual(
    [sized.drainDelayMs, sized.gracefulTimeoutMs, sized.teardownTimeoutMs, sized.gracePeriodMs],
    [5000, 15_000, 1000, 24_000],
  );
});

test("a router snippet is linked to its service and fits it", () => {
  const sized = size({
    routerLagMs: 5000,
    longestRequestMs: 15_000,
    teardownMs: 5000,
    startMs: 0,
    name: "orders",
    image: "orders:1",
    port: 8080,
  });
  const haproxy = EMITTERS["haproxy"]?.write(sized).replaceAll("127.0.0.1:", "orders:") ?? "";
  const compose = `${EMITTERS["compose"]?.write(sized) ?? ""}  router:\n    image: haproxy:3.2\n    volumes: ["./haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro"]\n`;
  assert.deepEqual(brief({ "haproxy.cfg": haproxy, "compose.yaml": compose }), []);
  assert.deepEqual(
    brief({
      "haproxy.cfg": haproxy.replace("inter 1250ms fall 1", "inter 3s fall 2"),
      "compose.yaml": compose,
    }),
    [
      "error budget/router-slower-than-drain haproxy.cfg:23",
      "error budget/router-slower-than-drain haproxy.cfg:24",
    ],
  );
});

test("--emit asks for what is missing and refuses names that no platform takes", async () => {
  for (const args of [
    ["--emit", "kubernetes"],
    ["--emit", "heroku", "--router-lag", "5s"],
    ["--emit", "constructor"],
    [
      "--emit",
      "nginx",
      "--router-lag",
      "5s",
      "--longest-request",
      "1s",
      "--teardown",
      "1s",
      "--start",
      "1s",
      "--name",
      "A b",
    ],
  ]) {
    await assert.rejects(
      run(ROOT, ...args),
      (error: unknown) => error instanceof LabError && error.code === "LAB_USAGE",
      args.join(" "),
    );
  }
});

test("our own deploy/ lints clean, notes included, and every sum in it fits", async () => {
  const { findings, files } = lint({ cwd: ROOT, paths: ["deploy"] });
  assert.deepEqual(
    findings.map(({ rule, message }) => `${rule} ${message}`),
    [],
  );
  assert.ok(files >= 7);
  assert.equal((await run(ROOT, "deploy")).code, 0);
});

test("a file that cannot be read is told, and is no pass where nothing else is there", async () => {
  await withFiles({ "a.yaml": "apiVersion: v1\nkind: [\n" }, async (cwd) => {
    const typo = await run(cwd, "depoy");
    assert.equal(typo.code, 3);
    assert.match(typo.err, /^depoy:1: There is no such file or folder\. \[file\/unreadable\]$/m);
    const broken = await run(cwd);
    assert.equal(broken.code, 3);
    assert.match(broken.err, /^a\.yaml:\d+: .* \[file\/broken\]$/m);
  });
});
