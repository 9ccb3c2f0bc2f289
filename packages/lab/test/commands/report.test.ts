// `lastcall report` as its users run it, on whole ledgers and on broken ones.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { reportCommand } from "../../src/commands/report.ts";
import { addToLedger } from "../../src/ledger/writer.ts";
import { REPORT_SCHEMA } from "../../src/report/schema.ts";
import type { Verdict } from "../../src/verdict/verdict.ts";
import { faults } from "../json-schema.ts";
import { writeMade } from "../report/made-ledger.ts";
import { makeFolder } from "../folder.ts";

const LASTCALL = fileURLToPath(new URL("../../../bin/lastcall.js", import.meta.url));
const folder = makeFolder("report");

const WISH = { requests: 1000, ratePerSecond: 100, restarts: 2, closedDoorMs: 300 };
mkdirSync(path.join(folder, "lossy"));
mkdirSync(path.join(folder, "clean"));
writeMade(path.join(folder, "lossy/ledger.ndjson"), WISH);
writeMade(path.join(folder, "clean/ledger.ndjson"), { ...WISH, closedDoorMs: 0, posts: true });

function report(...args: readonly string[]): { code: number | null; out: string; err: string } {
  const done = spawnSync(process.execPath, [LASTCALL, "report", ...args], {
    cwd: folder,
    encoding: "utf8",
    timeout: 60_000,
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

const copyOf = (name: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, readFileSync(path.join(folder, "lossy/ledger.ndjson")));
  return file;
};

describe("the forms of a report", () => {
  test("text is the default, and the exit code is the verdict's", () => {
    const lossy = report("lossy");
    assert.equal(lossy.code, 1, lossy.err);
    assert.match(lossy.out, /^✗ \d+ of 1000 requests went wrong in 2 restarts/);
    assert.ok(lossy.out.split("\n").every((line) => line.length <= 80));
    const clean = report("clean/ledger.ndjson");
    assert.equal(clean.code, 0, clean.err);
    assert.match(clean.out, /^✓ 0 of 1000 requests lost/);
    assert.match(report("clean", "--compare", "lossy").out, /\nbefore {8}\d+ of 1000 requests went wrong/);
  });

  test("JSON keeps the schema that is published, with and without an earlier run", () => {
    for (const args of [["lossy"], ["clean", "--compare", "lossy"]]) {
      const { out } = report(...args, "--json");
      assert.deepEqual(faults(REPORT_SCHEMA, JSON.parse(out)), []);
    }
    const bare = {
      schema: "lastcall.report/1",
      partial: [],
      share: [],
      verdict: { outcome: "maybe" },
      before: null,
    };
    assert.ok(faults(REPORT_SCHEMA, bare).includes("$.verdict.outcome is none of pass, fail, invalid"));
    assert.ok(faults(REPORT_SCHEMA, bare).includes("$.verdict.kinds is missing"));
  });

  test("JUnit has a case for each restart, and names the requests of one that failed", () => {
    const { out } = report("lossy", "--junit");
    assert.equal(out.split("<testcase ").length - 1, 3);
    assert.match(out, /tests="3" failures="2" errors="0"/);
    assert.match(out, /name="restart 1: SIGTERM to A"[^>]*><failure message="\d+ requests went wrong">/);
    assert.match(report("clean", "--junit").out, /failures="0" errors="0"/);
  });

  test("Markdown has the verdict, the numbers, and two columns when runs are compared", () => {
    const { out } = report("lossy", "--markdown");
    assert.match(out, /^### ❌ lastcall: \d+ of 1,000 requests went wrong\n/);
    assert.match(out, /\| \*\*closed door \(K01\)\*\* \|/);
    assert.match(report("clean", "--markdown", "--compare", "lossy").out, /\| lost \| \d+ \| \*\*0\*\* \|/);
  });

  test("what reruns said of a run stands in its ledger, and is in every form", async () => {
    const run = path.join(folder, "explained");
    mkdirSync(run);
    writeMade(path.join(run, "ledger.ndjson"), WISH);
    await addToLedger(run, {
      kind: "trial",
      factor: "router-first",
      words: "the <router> told first",
      outcome: "pass",
      before: 60,
      after: 0,
      vanished: ["closed-door"],
      proves: ["closed-door"],
      folder: "runs/x-router-first",
    });
    const control = {
      kind: "control",
      name: "hard-kill",
      words: "SIGKILL instead of the stop signal",
      outcome: "fail",
      sent: 300,
      folder: "runs/x-hard-kill",
    } as const;
    await addToLedger(run, { ...control, bad: 12 });
    const page = path.join(folder, "explained.html");
    const text = report("explained");
    assert.equal(text.code, 1, text.err);
    assert.match(text.out, /\nexplained {5}the failures vanish with the <router> told first \(60 before, 0/);
    assert.match(text.out, /\ncontrols {6}SIGKILL instead of the stop signal: 12 of 300 requests went wrong/);
    const markdown = report("explained", "--markdown", "--html", page).out;
    assert.match(markdown, /\n- explained: the failures vanish with the \\<router\\> told first/);
    assert.match(markdown, /\n- control: SIGKILL .* 12 of 300 requests went wrong, as they must/);
    assert.match(
      readFileSync(page, "utf8"),
      /<h2>Proof by intervention<.*vanish with the &lt;router&gt; told/,
    );
    const json = JSON.parse(report("explained", "--json").out) as { readonly verdict: Verdict };
    assert.deepEqual(faults(REPORT_SCHEMA, json), []);
    assert.equal(json.verdict.kinds.find(({ slug }) => slug === "closed-door")?.confidence, "proven");
    assert.deepEqual([json.verdict.trials.length, json.verdict.controls[0]?.bad], [1, 12]);
    await addToLedger(run, { ...control, bad: 0 });
    const blind = report("explained");
    assert.equal(blind.code, 4);
    assert.match(blind.out, /^! invalid run: the lab is blind: the control with SIGKILL/);
  });

  test("--html writes the page and leaves standard output alone", () => {
    const { code, out, err } = report("clean", "--html", "pages/report.html", "--compare", "lossy");
    assert.equal(code, 0, err);
    assert.equal(out, "");
    assert.match(readFileSync(path.join(folder, "pages/report.html"), "utf8"), /Before and after/);
  });

  test("several at once: the page in its file, one other on standard output", () => {
    const { out } = report("clean", "--html", "both.html", "--markdown");
    assert.match(out, /^### ✅/);
    assert.ok(existsSync(path.join(folder, "both.html")));
  });
});

describe("a ledger that is not whole", () => {
  test("cut in the middle of a line is reported as far as it goes, says so, and proves nothing", () => {
    const file = copyOf("torn.ndjson");
    truncateSync(file, 200_001);
    const { code, out, err } = report(file, "--html", "torn.html");
    assert.equal(code, 4, err);
    assert.equal(out, "");
    assert.match(err, /Line \d+ of the ledger is cut off/);
    const page = readFileSync(path.join(folder, "torn.html"), "utf8");
    assert.match(page, /This run proves nothing/);
    assert.match(page, /Line \d+ of the ledger is cut off; everything before it is shown/);
    assert.match(report(file, "--json").out, /"partial": \[\n {4}"Line/);
    assert.match(report(file, "--junit").out, /errors="1"/);
  });

  test("broken in its middle is an error that names the line", () => {
    const file = copyOf("broken.ndjson");
    const lines = readFileSync(file, "utf8").split("\n");
    lines[41] = "{";
    writeFileSync(file, lines.join("\n"));
    const { code, err } = report(file, "--html", "broken.html");
    assert.equal(code, 3);
    assert.match(err, /broken\.ndjson:42 is not JSON.*\n.*\[LAB_LEDGER_READ\]/);
    assert.ok(!existsSync(path.join(folder, "broken.html")));
  });

  test("that holds two runs is no longer one run", () => {
    const file = copyOf("twice.ndjson");
    appendFileSync(file, readFileSync(path.join(folder, "clean/ledger.ndjson")));
    const { code, err } = report(file);
    assert.equal(code, 3);
    assert.match(err, /twice\.ndjson:\d+ begins a second run: .*\n.*\[LAB_LEDGER_READ\]/);
  });

  test("of another schema says which it saw and which it reads", () => {
    const file = copyOf("newer.ndjson");
    writeFileSync(file, readFileSync(file, "utf8").replace("lastcall.ledger/1", "lastcall.ledger/9"));
    const { code, err } = report(file);
    assert.equal(code, 3);
    assert.match(err, /schema "lastcall\.ledger\/9"; this version reads lastcall\.ledger\/1/);
    assert.match(err, /\[LAB_LEDGER_SCHEMA\]/);
  });

  for (const [what, text, code] of [
    ["empty", "", "LAB_LEDGER_READ"],
    ["a page instead of a ledger", "<html>\n</html>\n", "LAB_LEDGER_READ"],
    ["some other JSON", '{"name":"app"}\n', "LAB_LEDGER_READ"],
    ["a ledger without its head", '{"kind":"end","atMs":1,"reason":"finished"}\n', "LAB_LEDGER_SCHEMA"],
    ["bytes", "\u0000\u0001\u0002", "LAB_LEDGER_READ"],
  ] as const) {
    test(`${what} is an error with a code, not a stack`, () => {
      const file = path.join(folder, "bad.ndjson");
      writeFileSync(file, text);
      const done = report(file);
      assert.equal(done.code, 3);
      assert.ok(done.err.includes(`[${code}]`), done.err);
      assert.doesNotMatch(done.err, /\n {4}at /);
    });
  }

  test("with nothing but its head is a report of nothing", () => {
    const file = path.join(folder, "head.ndjson");
    writeFileSync(file, `${readFileSync(path.join(folder, "lossy/ledger.ndjson"), "utf8").split("\n")[0]}\n`);
    appendFileSync(file, "");
    const { code, out } = report(file, "--html", "head.html", "--markdown");
    assert.equal(code, 4);
    assert.match(out, /This run proves nothing/);
  });
});

test("Ctrl-C while it reads ends it with 130, and nothing is written", async () => {
  const interrupt = new AbortController();
  interrupt.abort();
  let err = "";
  const code = await reportCommand.run(["lossy", "--html", "interrupted.html"], {
    out: () => undefined,
    err: (text) => (err += text),
    tty: false,
    env: {},
    cwd: folder,
    interrupted: interrupt.signal,
  });
  assert.equal(code, 130);
  assert.match(err, /Interrupted: nothing was written/);
  assert.ok(!existsSync(path.join(folder, "interrupted.html")));
});

describe("wrong usage", () => {
  for (const [args, code, words] of [
    [[], 2, /needs a ledger/],
    [["lossy", "clean"], 2, /does not know what to do with 'clean'/],
    [["lossy", "--json", "--junit"], 2, /exclude each other/],
    [["lossy", "--htlm", "x"], 2, /no flag --htlm.*\n.*--html/],
    [["nowhere"], 3, /does not exist/],
    [["."], 3, /holds no ledger\.ndjson/],
    [["lossy", "--html", "lossy/ledger.ndjson/x.html"], 3, /could not be written/],
  ] as const) {
    test(`report ${args.join(" ")}`, () => {
      const done = report(...args);
      assert.equal(done.code, code, done.err);
      assert.match(done.err, words);
    });
  }
});
