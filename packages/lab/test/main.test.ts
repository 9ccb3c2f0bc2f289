// The command as a whole: what no single command has foreseen ends in one clear error, without a stack.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LabError } from "../src/errors.ts";
import { unforeseen } from "../src/unforeseen.ts";
import { makeFolder } from "./folder.ts";

const LASTCALL = fileURLToPath(new URL("../../bin/lastcall.js", import.meta.url));
const folder = makeFolder("main");
const STACK = /^\s+at /m;

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function shell(script: string, env: Readonly<Record<string, string>> = {}): Ran {
  const done = spawnSync("/bin/sh", ["-c", script, "sh", process.execPath, LASTCALL], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...env },
    timeout: 60_000,
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

describe("lastcall", () => {
  test("--version says the version of the package", () => {
    const { version } = JSON.parse(
      readFileSync(path.join(path.dirname(LASTCALL), "../package.json"), "utf8"),
    ) as { version: string };
    for (const flag of ["--version", "-v", "version"]) {
      const ran = shell(`"$1" "$2" ${flag}`);
      assert.equal(ran.out, `${version}\n`, flag);
      assert.equal(ran.code, 0, flag);
    }
  });

  test("the help of a command has three spellings", () => {
    const { code, out } = shell('"$1" "$2" lag --help');
    assert.equal(code, 0);
    assert.match(out, /^Usage: lastcall lag URL/);
    for (const words of ["lag -h", "help lag"]) {
      assert.deepEqual(shell(`"$1" "$2" ${words}`), { code, out, err: "" }, words);
    }
    assert.match(shell('"$1" "$2" help').out, /^Usage: lastcall COMMAND/);
    assert.match(shell('"$1" "$2" help lagg').err, /no command 'lagg'.\nDid you mean lag\?/);
  });

  test("a command that does not exist is answered with the nearest one", () => {
    const ran = shell('"$1" "$2" rolout');
    assert.equal(ran.code, 2);
    assert.match(ran.err, /no command 'rolout'.\nDid you mean rollout\? .*\[LAB_USAGE\]/);
    assert.match(shell('"$1" "$2" constructor').err, /no command 'constructor'/);
  });

  test("what the system refuses is one error with its path, and the stack only with LASTCALL_DEBUG", () => {
    writeFileSync(path.join(folder, "taken"), "");
    const ran = shell('"$1" "$2" lab signal --keep taken');
    assert.equal(ran.code, 3, ran.err);
    assert.match(ran.err, /^lastcall: The system refused: EEXIST.*taken'\nName a path.*\[LAB_SYSTEM\]$/m);
    assert.doesNotMatch(ran.err, STACK);
    assert.match(shell('"$1" "$2" lab signal --keep taken', { LASTCALL_DEBUG: "1" }).err, STACK);
  });

  test("what a quoted file does to a terminal is not done", () => {
    writeFileSync(path.join(folder, "noise"), "\u001B[31m\u0007\u0000red\n");
    const ran = shell('"$1" "$2" report noise');
    assert.equal(ran.code, 3);
    assert.match(ran.err, /noise:1 is not JSON/);
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(ran.err, /[\u0000-\u0008\u000B-\u001F\u007F]/);
  });

  test("a reader that has gone is no error, and the exit code is that of the findings", () => {
    const documents = Array.from(
      { length: 400 },
      (_, n) => `services:\n  web${n}:\n    image: x\n    stop_signal: SIGKILL\n`,
    );
    for (const [n, text] of documents.entries()) {
      writeFileSync(path.join(folder, `compose-${n}.yaml`), text);
    }
    const ran = shell('{ "$1" "$2" lint --format json; echo "code $?" >&2; } | head -c 1');
    assert.equal(ran.err, "code 1\n");
  });

  test(
    "standard output on a full disk is told, and is no pass",
    { skip: existsSync("/dev/full") ? false : "this system has no /dev/full" },
    () => {
      const ran = shell('"$1" "$2" lint --list-rules > /dev/full');
      assert.equal(ran.code, 3, ran.err);
      assert.match(ran.err, /^lastcall: Standard output cannot be written: ENOSPC.*\n.*\[LAB_OUTPUT\]$/m);
      assert.doesNotMatch(ran.err, STACK);
    },
  );
});

describe("Ctrl-C", () => {
  test("ends lint at once, though it reads without a pause", async () => {
    const pipe = path.join(folder, "never-written.yaml");
    execFileSync("mkfifo", [pipe]);
    const child = spawn(process.execPath, [LASTCALL, "lint", pipe], { stdio: "ignore" });
    const gone = once(child, "exit");
    try {
      const writer = await open(pipe, "w"); // Opens when lint has opened it to read.
      child.kill("SIGINT");
      const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      const [, signal] = (await gone) as [number | null, string | null];
      clearTimeout(timer);
      await writer.close();
      assert.equal(signal, "SIGINT");
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("while a command is being loaded is no pass", () => {
    // The signal is sent as soon as there is a handler for it, and so comes while the command's module is read.
    const preload = `const { once } = process; process.once = (name, act) => {
      once.call(process, name, act);
      if (name === "SIGTERM") process.kill(process.pid, "SIGINT");
      return process;
    };`;
    for (const command of ["prove", "check"]) {
      const ran = shell(`"$1" --import "$PRELOAD" "$2" ${command} -- sleep 5`, {
        PRELOAD: `data:text/javascript,${encodeURIComponent(preload)}`,
      });
      assert.equal(ran.code, 130, `${command}: ${ran.err}`);
    }
  });
});

describe("what no command has foreseen", () => {
  test("a mistake of the lab's own is named as such, with its place", () => {
    const told = unforeseen(new TypeError("x is not a function\nmore"));
    assert.equal(told.code, "LAB_MISTAKE");
    assert.match(told.message, /TypeError: x is not a function \(.*:\d+:\d+\)$/);
    assert.equal(unforeseen("text").code, "LAB_MISTAKE");
  });

  test("an error of ours stays as it is", () => {
    const ours = new LabError("LAB_OPTION", "a", "b");
    assert.equal(unforeseen(ours), ours);
  });
});
