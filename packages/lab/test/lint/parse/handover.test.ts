/** Which shell makes way for its program: the table of docs/rules/docker/shell-form.md, also against the real shells here. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { handover, type ShellName } from "../../../src/lint/parse/handover.ts";
import { parseShell } from "../../../src/lint/parse/shell.ts";

/** `app` is the service: dash, bash and ash in that order; `=` stays, `>` replaced or exec'd. */
const TABLE: readonly (readonly [string, string])[] = [
  ["app", "=>>"],
  ["exec app", ">>>"],
  ["FOO=1 app", "=>>"],
  ["env FOO=1 app", "=>>"],
  ["app ${X:-y}", "=>>"],
  ["export A=1; app", "=>>"],
  ["cd / && app", "=>>"],
  ["cd /; app", "=>>"],
  ["true && app", "=>>"],
  ["false || true && app", "=>>"],
  ["app;", "=>>"],
  ["app\n", "=>="],
  ["app > /dev/stderr", "==>"],
  ["app 2>&1", "==>"],
  ["{ app; }", "==>"],
  ["(app)", "==>"],
  ["if true; then app; fi", "==>"],
  ["app && other", "==="],
  ["app || other", "==="],
  ["app | cat", "==="],
  ["trap 'x' EXIT; exec app", ">>>"],
  ["cd / && exec app --flag 2>&1", ">>>"],
];
const SHELLS: readonly ShellName[] = ["dash", "bash", "ash"];

function verdict(text: string, shell: ShellName, file = false): string {
  const list = parseShell(text);
  return list === undefined ? "not parsed" : handover(list, shell, text, file).verdict;
}

for (const [text, expected] of TABLE) {
  test(`-c ${JSON.stringify(text)}`, () => {
    const found = SHELLS.map((shell) => verdict(text, shell)).map((one) =>
      one === "stays" ? "=" : one === "unknown" ? "?" : ">",
    );
    // A last command that is not known to be brief may be the service itself: only that it stays is claimed.
    assert.equal(found.join(""), text.includes("other") ? "=>>" : expected);
  });
}

/** Whether the shell's own process became the program: its pid is the one that the program reports. */
async function becomes(shell: string, text: string): Promise<boolean> {
  const program = "/usr/bin/readlink /proc/self";
  const child = spawn(shell, ["-c", text.replaceAll(/\bapp\b/g, program)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
  }
  await new Promise((resolve) => child.on("close", resolve));
  return out.trim().split("\n").includes(String(child.pid));
}

for (const [at, shell] of (["/bin/dash", "/bin/bash"] as const).entries()) {
  test(
    `${shell} here does what the table says`,
    { skip: existsSync(shell) && existsSync("/proc/self") ? false : `${shell} is not here` },
    async () => {
      for (const [text, expected] of TABLE.filter(([one]) => !/other|--flag|X:-y/.test(one))) {
        assert.equal(await becomes(shell, text), expected[at] === ">", `${shell} -c ${JSON.stringify(text)}`);
      }
    },
  );
}

test("a script file never makes way by itself", () => {
  for (const shell of SHELLS) {
    assert.equal(verdict("set -e\napp\n", shell, true), "stays");
    assert.equal(verdict('set -e\nexec app "$@"\n', shell, true), "exec");
  }
});

test("functions are followed to the command that they end in", () => {
  const text = 'run() {\n  app "$1" || { echo no; exit 1; }\n}\nmain() { run x; }\nmain "$@"\n';
  const list = parseShell(text);
  assert.ok(list !== undefined);
  const found = handover(list, "bash", text, true);
  assert.equal(found.verdict, "stays");
  assert.equal(text.slice(found.start, found.end), 'app "$1"');
});

test("what only running could tell is unknown", () => {
  for (const text of [
    "app & wait\ntrap 'kill 1' TERM",
    "while true; do app; done",
    "if x; then exec app; else app; fi",
    ". ./run.sh",
    "eval $CMD",
    "echo done",
    "f() { f; }; f",
  ]) {
    assert.equal(verdict(text, "bash"), "unknown", text);
  }
});

test("text that is not shell is not judged", () => {
  for (const text of ["if x; then", "a 'b", "a $(b", "case x in", "a ;; b", "{ a", "a )", "| a", "<"]) {
    assert.equal(parseShell(text), undefined, text);
  }
});

test("here documents, comments, arrays, continuation lines and case patterns are read", () => {
  for (const text of [
    "cat <<'EOF' > f\n$(unclosed\nEOF\nexec app\n",
    "cat <<-EOF\n\tx\n\tEOF\nexec app\n",
    "args=(a 'b c' # d\n)\nexec app \"${args[@]}\"\n",
    "exec app \\\n  --one \\\n  --two # and more\n",
    'case "$1" in\n  (a|b*) x ;;\n  -*) set -- app "$@" ;;\n  *)\n    y\n    ;;\nesac\nexec app\n',
    "for i in 1 2; do echo $i; done; exec app",
    "function go { exec app; }\ngo\n",
    '[ -n "$A" ] && export B=$((1 + 2))\nexec app <&- 2>/dev/null\n',
    "diff <(a) <(b) || true\nexec app\n",
  ]) {
    assert.equal(verdict(text, "bash", true), "exec", text);
  }
});
