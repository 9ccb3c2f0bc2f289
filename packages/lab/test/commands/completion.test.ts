/** Completion, the Action and the pre-commit hook name what the commands really take. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { budgetCommand } from "../../src/commands/budget.ts";
import type { Io } from "../../src/commands/command.ts";
import { completionCommand, completions } from "../../src/commands/completion.ts";
import { lintCommand } from "../../src/commands/lint.ts";
import { RULES } from "../../src/lint/rules/all.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");

async function out(
  command: { run(args: readonly string[], io: Io): Promise<number> },
  ...args: readonly string[]
): Promise<string> {
  let text = "";
  await command.run(args, {
    out: (more) => void (text += more),
    err: () => undefined,
    tty: false,
    env: {},
    cwd: ROOT,
    interrupted: new AbortController().signal,
  });
  return text;
}

test("the options that are completed are those that --help names", async () => {
  const table = completions([], []);
  for (const [name, command] of [
    ["lint", lintCommand],
    ["budget", budgetCommand],
  ] as const) {
    const named = new Set((await out(command, "--help")).match(/--[a-z-]+/g));
    const completed = new Set(Object.keys(table[name] ?? {}));
    // Versions are options of both and worth naming only for lint.
    for (const quiet of ["--help", "--kubernetes", "--nginx"]) {
      completed.delete(quiet);
      named.delete(quiet);
    }
    assert.deepEqual([...completed].toSorted(), [...named].toSorted(), name);
  }
});

test(
  "bash completes commands, options, values and files",
  { skip: existsSync("/bin/bash") ? false : "bash is not installed" },
  async () => {
    const script = await out(completionCommand, "bash");
    const complete = (...words: readonly string[]): readonly string[] => {
      const list = words.map((word) => `'${word}'`).join(" ");
      const run = `${script}\nCOMP_WORDS=(lastcall ${list}); COMP_CWORD=${words.length}; _lastcall; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync("/bin/bash", ["-c", run], { encoding: "utf8", cwd: ROOT }).stdout.trim().split("\n");
    };
    assert.ok(["lint", "budget", "rollout"].every((name) => complete("").includes(name)));
    assert.deepEqual(complete("li"), ["lint"]);
    assert.deepEqual(complete("lint", "--fail-on", "w"), ["warning"]);
    assert.deepEqual(complete("lint", "--fix"), ["--fix", "--fix-dry-run"]);
    assert.deepEqual(complete("lint", "--explain", "budget/exc"), ["budget/exceeds-grace"]);
    assert.deepEqual(complete("budget", "--emit", "ku"), ["kubernetes"]);
    assert.deepEqual(complete("lint", "deplo"), ["deploy"]);
    assert.equal(complete("lint", "--explain", "").length, RULES.length);
  },
);

test("zsh and fish scripts hold every option; another shell is refused", async () => {
  const table = completions([], []);
  const [zsh, fish] = [await out(completionCommand, "zsh"), await out(completionCommand, "fish")];
  for (const option of Object.keys(table["lint"] ?? {})) {
    assert.ok(zsh.includes(option) && fish.includes(` -l ${option.slice(2)}`), option);
  }
  await assert.rejects(out(completionCommand, "tcsh"), /no completion for 'tcsh'/);
});

interface Action {
  readonly runs: {
    readonly steps: readonly { readonly run: string; readonly env?: Record<string, string> }[];
  };
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
}

test(
  "the Action's script lints its paths, writes SARIF, and leaves with lint's exit code",
  { skip: existsSync("/bin/bash") ? false : "bash is not installed" },
  () => {
    const { runs, inputs } = parse(readFileSync(path.join(ROOT, "action.yml"), "utf8")) as Action;
    const script = runs.steps.at(-1)?.run ?? "";
    const cwd = mkdtempSync(path.join(tmpdir(), "lastcall-action-"));
    try {
      mkdirSync(path.join(cwd, "a"));
      writeFileSync(path.join(cwd, "a/Dockerfile"), "FROM debian:12\nCMD node server.js\n");
      const ran = spawnSync("/bin/bash", ["-e", "-o", "pipefail", "-c", script], {
        cwd,
        encoding: "utf8",
        env: {
          PATH: process.env["PATH"],
          RUNNER_TEMP: cwd,
          LASTCALL: path.join(ROOT, "packages/lab/bin/lastcall.js"),
          INPUT_PATHS: "a",
          INPUT_FAIL_ON: inputs["fail-on"]?.default,
          INPUT_SARIF: "out.sarif",
          INPUT_CONFIG: "",
        },
      });
      assert.equal(ran.status, 1, ran.stderr);
      assert.match(ran.stdout, /^::error file=a\/Dockerfile,line=2,/);
      assert.match(ran.stdout, /1 file read: 1 error/);
      assert.ok(existsSync(path.join(cwd, "out.sarif")));
    } finally {
      rmSync(cwd, { recursive: true });
    }
  },
);

test("the pre-commit hook runs lint on the whole repository, for the files that lint reads", () => {
  const [hook] = parse(readFileSync(path.join(ROOT, ".pre-commit-hooks.yaml"), "utf8")) as {
    entry: string;
    files: string;
    pass_filenames: boolean;
  }[];
  assert.ok(hook !== undefined);
  assert.match(hook.entry, / lastcall lint$/);
  assert.equal(hook.pass_filenames, false);
  const pattern = new RegExp(hook.files);
  assert.ok(
    [
      "a/Dockerfile",
      "Dockerfile.prod",
      "k8s/a.yaml",
      "a.service",
      "nginx.conf",
      "haproxy.cfg",
      "package.json",
    ].every((name) => pattern.test(name)),
  );
  assert.ok(!pattern.test("src/main.ts"));
});
