/** Broken, hostile and unusual input: a finding or a clear error with its place, never a crash or a silent skip. */

import assert from "node:assert/strict";
import { chmodSync, symlinkSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { applyFixes } from "../../src/lint/fix.ts";
import { lint } from "../../src/lint/run.ts";
import { where } from "../../src/lint/source.ts";
import { brief, rulesFound, withFiles, lintFiles } from "./lint-files.ts";
import { corpus, exercise, mutate } from "./mutations.ts";

/** More than the test run takes: LASTCALL_FUZZ_RUNS=100000. */
const RUNS = Number(process.env["LASTCALL_FUZZ_RUNS"] ?? 400);

const SAMPLES = corpus();

test("the corpus holds a file of every kind that is parsed", () => {
  assert.deepEqual([...new Set(SAMPLES.map(({ kind }) => kind))].toSorted(), [
    "dockerfile",
    "drop-in",
    "haproxy",
    "json",
    "nginx",
    "package",
    "pm2",
    "source",
    "unit",
    "yaml",
  ]);
});

test("real files with up to six changes are read without a crash, and findings point into them", () => {
  const change = fc.tuple(fc.nat(7), fc.nat(), fc.nat(), fc.nat());
  fc.assert(
    fc.property(fc.nat(), fc.array(change, { minLength: 1, maxLength: 6 }), (which, changes) => {
      const sample = SAMPLES[which % SAMPLES.length];
      assert.ok(sample !== undefined);
      exercise({
        ...sample,
        text: changes.reduce(
          (text, [kind, at, length, token]) => mutate(text, kind, at, length, token),
          sample.text,
        ),
      });
    }),
    { numRuns: RUNS },
  );
});

test("text of any kind is read without a crash as any kind of file", () => {
  const kinds = SAMPLES.map(({ kind, name }) => ({ kind, name }));
  fc.assert(
    fc.property(fc.nat(), fc.string({ unit: "binary", maxLength: 300 }), (which, text) => {
      const { kind, name } = kinds[which % kinds.length] ?? assert.fail();
      exercise({ kind, name, text });
    }),
    { numRuns: RUNS },
  );
});

test("broken YAML is named with its place", () => {
  assert.deepEqual(brief({ "d.yaml": "apiVersion: v1\nkind: Service\nmetadata:\n\tname: a\n" }), [
    "error file/broken d.yaml:4",
  ]);
  assert.deepEqual(brief({ "d.yaml": "apiVersion: v1\nkind: Service\nspec: {a: [1, 2}\n" }), [
    "error file/broken d.yaml:3",
  ]);
});

test("a broken document does not hide the file, nor other people's YAML fail the run", () => {
  assert.deepEqual(brief({ "ci.yml": "on: [push\n" }), []);
  assert.deepEqual(brief({ "ci.yml": "on: [push\n" }, { paths: ["ci.yml"] }), [
    "info file/not-recognised ci.yml:1",
  ]);
});

test("router files, units and Dockerfiles that break off are named with their place", () => {
  assert.deepEqual(brief({ "nginx.conf": "events {}\nhttp {\n  server {\n" }), [
    "error file/broken nginx.conf:4",
  ]);
  assert.deepEqual(brief({ "nginx.conf": "events {}\n}\n" }), ["error file/broken nginx.conf:2"]);
  assert.deepEqual(brief({ "haproxy.cfg": "server a 10.0.0.1\nglobal\n  hard-stop-after 5s\n" }), [
    "error file/broken haproxy.cfg:1",
  ]);
  assert.deepEqual(brief({ "a.service": "[Service]\nExecStart=/srv/a\nnonsense\n" }), [
    "error file/broken a.service:3",
  ]);
  assert.deepEqual(brief({ Dockerfile: "RUN echo\n" }), ["error file/broken Dockerfile:1"]);
});

test("binary files, folders without permission and missing files are named", () => {
  assert.deepEqual(brief({ Dockerfile: new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 1]) }), [
    "error file/unreadable Dockerfile:1",
  ]);
  assert.deepEqual(brief({}, { paths: ["missing.yaml"] }), ["error file/unreadable missing.yaml:1"]);
});

test(
  "an unreadable file is a finding",
  { skip: process.getuid?.() === 0 ? "root reads everything" : false },
  () => {
    withFiles({ Dockerfile: "FROM x\n" }, (cwd) => {
      chmodSync(path.join(cwd, "Dockerfile"), 0);
      assert.deepEqual(
        lint({ cwd, paths: ["."] }).findings.map(({ rule, at }) => `${rule} ${where(at)}`),
        ["file/unreadable Dockerfile:1"],
      );
    });
  },
);

test("a file of 50 MB is not read, and is named", () => {
  assert.deepEqual(brief({ "big.yaml": "a: b # ".padEnd(50_000_000, "x") }), [
    "warning file/too-large big.yaml:1",
  ]);
});

test("aliases that explode cost nothing, and an anchor that holds itself is named", () => {
  const levels = Array.from(
    { length: 30 },
    (_, level) => `a${level + 1}: &a${level + 1} [*a${level}, *a${level}, *a${level}, *a${level}]`,
  );
  assert.deepEqual(
    brief({ "bomb.yaml": `apiVersion: v1\nkind: ConfigMap\na0: &a0 x\n${levels.join("\n")}\n` }),
    [],
  );
  assert.deepEqual(rulesFound({ "self.yaml": "apiVersion: v1\nkind: ConfigMap\ndata: &a\n  b: *a\n" }), [
    "file/broken",
  ]);
});

test("deep nesting is refused, not a crash", () => {
  assert.deepEqual(rulesFound({ "deep.yaml": `apiVersion: v1\nkind: X\na: ${"[".repeat(20_000)}\n` }), [
    "file/broken",
  ]);
  assert.deepEqual(rulesFound({ "nginx.conf": `http { ${"a { ".repeat(5000)}` }), ["file/broken"]);
  assert.deepEqual(rulesFound({ Dockerfile: `FROM debian:12\nCMD ${"( ".repeat(5000)}a\n` }), []);
});

test("cycles of includes, extends, stages and links end", () => {
  assert.deepEqual(
    brief({ "a.conf": "server { include b.conf; }\n", "b.conf": "server { include a.conf; }\n" }),
    [],
  );
  assert.deepEqual(
    brief({ "compose.yaml": "services:\n  a: { extends: b }\n  b: { extends: { service: a } }\n" }),
    [],
  );
  assert.deepEqual(brief({ Dockerfile: "FROM b AS a\nFROM a AS b\nFROM b AS b\n" }), []);
  withFiles({ "a/Dockerfile": "FROM debian:12\nCMD node x\n" }, (cwd) => {
    symlinkSync(cwd, path.join(cwd, "a/loop"));
    assert.equal(lint({ cwd, paths: ["."] }).findings.length, 1);
  });
  assert.deepEqual(
    rulesFound({
      Dockerfile: 'FROM node:22\nCMD ["npm", "start"]\n',
      "package.json": '{"scripts":{"start":"npm start"}}',
    }).slice(0, 1),
    ["docker/package-manager-pid1"],
  );
});

test("CRLF and tabs change no finding and no line", () => {
  const files = {
    "d.service": "[Service]\nExecStart=/usr/bin/gunicorn a\nTimeoutStopSec=5\n",
    Dockerfile: "FROM node:22\nCMD node a\n",
  };
  const crlf = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, text.replaceAll("\n", "\r\n")]),
  );
  const tabs = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, text.replaceAll(" ", "\t")]),
  );
  assert.deepEqual(brief(crlf), brief(files));
  assert.deepEqual(brief(tabs), brief(files));
});

test("a byte order mark is not part of the first word", () => {
  assert.deepEqual(
    brief({ "a.service": "\ufeff[Service]\nExecStart=/usr/bin/gunicorn a\nTimeoutStopSec=5\n" }),
    ["error budget/exceeds-grace a.service:3"],
  );
  assert.deepEqual(brief({ Dockerfile: "\ufeffFROM node:22\nCMD node a\n" }), [
    "error docker/shell-form Dockerfile:2",
  ]);
});

test("unknown versions of a manifest are read as far as they are known", () => {
  assert.deepEqual(
    brief({
      "d.yaml":
        "apiVersion: apps/v9\nkind: Deployment\nmetadata: { name: a }\nspec: { template: { spec: { containers: 5 } } }\n",
    }),
    [],
  );
});

test("quoted texts that Kubernetes reads, though YAML forbids their indent, keep their file and its lines", () => {
  const head =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 'a\n  b''c\n  d'\ndata:\n  x: \"one\n  two \\\" three\"\n";
  const pod =
    "---\napiVersion: v1\nkind: Service\nmetadata: { name: a }\nspec:\n  publishNotReadyAddresses: true\n";
  assert.deepEqual(brief({ "d.yaml": head + pod }), ["warning router/publish-not-ready d.yaml:15"]);
  assert.deepEqual(brief({ "d.yaml": "apiVersion: v1\nkind: 'never\nclosed\n" }), [
    "error file/broken d.yaml:4",
  ]);
});

test("templates of other kinds are refused like Helm's", () => {
  assert.deepEqual(
    rulesFound({ "d.yaml": "apiVersion: v1\nkind: Pod\n{% if x %}\nmetadata: { name: a }\n{% endif %}\n" }),
    ["file/template"],
  );
  assert.deepEqual(rulesFound({ "d.yaml": "apiVersion: v1\nkind: Pod\n<% if x %>\nmetadata: [\n" }), [
    "file/template",
  ]);
});

test("a fix leaves nothing of its rule to fix in its file", () => {
  for (const sample of SAMPLES) {
    for (const { text, applied } of applyFixes(exercise(sample)).filter(
      ({ source }) => source.path === sample.name,
    )) {
      const left = exercise({ ...sample, text }).filter(({ fix }) => fix !== undefined);
      assert.deepEqual(
        left.map(({ rule }) => rule).filter((rule) => applied.some((one) => one.rule === rule)),
        [],
        sample.name,
      );
    }
  }
});

test("large router files take time by their length, not by its square", () => {
  const cpu = (files: Readonly<Record<string, string>>): number => {
    const before = process.cpuUsage();
    brief(files);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const nginx = (count: number): Readonly<Record<string, string>> => ({
    "nginx.conf": `events {}\nhttp { upstream u { server 10.0.0.1; server 10.0.0.2; }\nserver {\n${"location /a { proxy_pass http://u; }\n".repeat(count)}}}\n`,
  });
  const haproxy = (count: number): Readonly<Record<string, string>> => ({
    "haproxy.cfg": `global\nbackend b\n${"  server a 10.0.0.1:80 check\n".repeat(count)}`,
  });
  for (const make of [nginx, haproxy]) {
    // Forty times the input: by the square it would be 1,600 times the time. The allowance is for a busy machine.
    const small = cpu(make(1000)) + 20;
    const large = cpu(make(40_000));
    assert.ok(large < small * 250, `${large} ms after ${small} ms`);
  }
});

test("a link to a file is read under its own name, once, and a link that leads nowhere is nothing", () => {
  const compose = "services:\n  w:\n    image: x\n    stop_signal: SIGKILL\n";
  withFiles({ "real.txt": compose, "a/b.yaml": compose }, (cwd) => {
    symlinkSync("real.txt", path.join(cwd, "compose.yaml"));
    symlinkSync("real.txt", path.join(cwd, "compose.again.yaml"));
    symlinkSync("b.yaml", path.join(cwd, "a/also-b.yaml"));
    symlinkSync("nowhere", path.join(cwd, "gone.yaml"));
    symlinkSync("round.yaml", path.join(cwd, "round.yaml"));
    const { findings, files } = lint({ cwd, paths: ["."] });
    assert.deepEqual(
      findings.map(({ at }) => at.source.path),
      ["a/b.yaml", "compose.again.yaml"],
    );
    assert.equal(files, 2);
  });
});

test("a key of the configuration that nothing reads is a finding, not silence", () => {
  const config = (text: string): readonly string[] =>
    lintFiles({ "lastcall.config.json": text }).findings.map(({ rule, message }) => `${rule} ${message}`);
  assert.match(config('{"lnit": {"rules": {}}}').join(), /^lint\/config .*'lnit'\. Did you mean lint\?/);
  assert.match(config("[]").join(), /^lint\/config .*holds no object/);
  assert.match(config('{"lint": []}').join(), /^lint\/config 'lint' is no object/);
  assert.deepEqual(config('{"$schema": "x", "rollout": {}, "lint": {}}'), []);
});
