/** The Actions of this repository: their own steps, run as a runner runs them, with a recorded run. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { makeFolder } from "../folder.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");
const recorded = (name: string): string =>
  readFileSync(path.join(ROOT, "packages/lab/test/render/recorded", name), "utf8");

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: {
    readonly steps: readonly {
      readonly name: string;
      readonly run: string;
      readonly env?: Readonly<Record<string, string>>;
    }[];
  };
}

/** Runs the Action's own step with a `node` that notes what it is asked and prints a recorded run. */
function runStep(
  name: "prove" | "rollout",
  given: Readonly<Record<string, string>>,
  printed: string,
  code: number,
): {
  readonly code: number | null;
  readonly asked: string;
  readonly summary: string;
} {
  const action = parse(readFileSync(path.join(ROOT, `actions/${name}/action.yml`), "utf8")) as Action;
  const step = action.runs.steps.find((one) => one.name === name);
  assert.ok(step !== undefined);
  const folder = makeFolder("action");
  writeFileSync(path.join(folder, "printed"), printed);
  writeFileSync(
    path.join(folder, "node"),
    `#!/bin/sh
case "$1" in
*summary.mjs) exec "${process.execPath}" "$@";;
esac
printf '%s\\n' "$@" > "${folder}/asked"
cat "${folder}/printed"
exit ${code}
`,
  );
  chmodSync(path.join(folder, "node"), 0o755);
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([input, { default: value = "" }]) => [
      `INPUT_${input.toUpperCase().replaceAll("-", "_")}`,
      given[input] ?? value,
    ]),
  );
  // Every input that the step reads is handed to it.
  for (const variable of step.run.match(/INPUT_[A-Z_]+/g) ?? []) {
    assert.ok(step.env?.[variable] !== undefined, `${variable} is not handed to the step`);
  }
  for (const variable of Object.keys(inputs).filter((one) => one !== "INPUT_WORKING_DIRECTORY")) {
    assert.ok(step.run.includes(variable), `${variable} is not used by the step`);
  }
  const done = spawnSync("bash", ["-e", "-o", "pipefail", "-c", step.run], {
    cwd: folder,
    encoding: "utf8",
    env: {
      ...inputs,
      PATH: `${folder}:${process.env["PATH"] ?? ""}`,
      LASTCALL: ROOT,
      RUNNER_TEMP: folder,
      GITHUB_STEP_SUMMARY: path.join(folder, "summary.md"),
    },
  });
  const read = (file: string): string =>
    existsSync(path.join(folder, file)) ? readFileSync(path.join(folder, file), "utf8") : "";
  return { code: done.status, asked: read("asked"), summary: read("summary.md") };
}

test("the rollout Action asks for what its inputs say, sums the run up and leaves with its code", () => {
  const given = {
    command: "node app.js --port {port}",
    ready: "/healthz",
    post: "/items",
    "drain-delay": "3s",
  };
  const { code, asked, summary } = runStep("rollout", given, recorded("rollout-stop.json"), 1);
  assert.equal(code, 1);
  assert.equal(summary.trimEnd(), recorded("rollout-stop.md").trimEnd());
  assert.deepEqual(asked.trimEnd().split("\n").slice(1), [
    "rollout",
    "--json",
    "--ready",
    "/healthz",
    "--post",
    "/items",
    "--drain-delay",
    "3s",
    "--repeat",
    "3",
    "--attempts",
    "3",
    "--",
    "node",
    "app.js",
    "--port",
    "{port}",
  ]);
});

test("the prove Action does the same; a command that could not run is said so in the summary", () => {
  const { code, asked, summary } = runStep(
    "prove",
    { command: "node app.js", slow: "/slow?s={seconds}" },
    recorded("prove-naive.json"),
    1,
  );
  assert.equal(code, 1);
  assert.match(summary, /^### ❌ lastcall prove/);
  assert.deepEqual(asked.trimEnd().split("\n").slice(1), [
    "prove",
    "--json",
    "--slow",
    "/slow?s={seconds}",
    "--",
    "node",
    "app.js",
  ]);
  const failed = runStep("prove", { command: "nowhere" }, "", 3);
  assert.equal(failed.code, 3);
  assert.match(failed.summary, /could not run/);
});
