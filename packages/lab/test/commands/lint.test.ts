/** The command `lastcall lint`: formats, exit codes, fixes, suppressions, baseline. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import type { Io } from "../../src/commands/command.ts";
import { lintCommand } from "../../src/commands/lint.ts";
import { LabError } from "../../src/errors.ts";
import { RULES } from "../../src/lint/rules/all.ts";
import { type Files, withFiles } from "../lint/lint-files.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(cwd: string, ...args: readonly string[]): Promise<Ran> {
  let out = "";
  let err = "";
  const io: Io = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    tty: false,
    env: {},
    cwd,
    interrupted: new AbortController().signal,
  };
  return { code: await lintCommand.run(args, io), out, err };
}

const BAD: Files = {
  Dockerfile: "FROM debian:12\nCMD node server.js # not a comment\n",
  "app/Dockerfile": "FROM node:22-alpine\nCMD node server.js\n",
};
/** A finding with everything: details, related places, a fix. */
const RICH: Files = {
  "a b,c:d/Dockerfile": "FROM node:22\n# keep me\nCMD node   server.js\n",
  "orders.service": "[Service]\nExecStart=/usr/bin/gunicorn site:app\nTimeoutStopSec=5\n",
};

test("the exit code follows --fail-on: errors and warnings fail, notes do not", async () => {
  await withFiles({ Dockerfile: "FROM node:22-alpine\nCMD node server.js\n" }, async (cwd) => {
    assert.equal((await run(cwd)).code, 0);
    assert.equal((await run(cwd, "--fail-on", "info")).code, 1);
  });
  await withFiles(BAD, async (cwd) => {
    assert.equal((await run(cwd)).code, 1);
    assert.equal((await run(cwd, "app")).code, 0);
  });
});

test("wrong usage is refused with a next step", async () => {
  for (const args of [
    ["--format", "xml"],
    ["--fail-on", "all"],
    ["--nonsense"],
    ["--explain", "budget/nothing"],
    ["--drain-delay", "5"],
    ["--kubernetes", "new"],
    ["--baseline", "missing.json"],
    ["--config", "missing.json"],
  ]) {
    await withFiles({}, async (cwd) => {
      await assert.rejects(
        run(cwd, ...args),
        (error: unknown) => error instanceof LabError && error.next !== "",
        args.join(" "),
      );
    });
  }
});

test("a broken configuration is refused with its place", async () => {
  await withFiles({ "lastcall.config.json": '{\n  "lint": [\n' }, async (cwd) => {
    await assert.rejects(run(cwd), /lastcall\.config\.json:\d+:\d+: /);
  });
});

test("text shows the place, the line, the sum with origins, and why", async () => {
  await withFiles(RICH, async (cwd) => {
    const { out } = await run(cwd);
    assert.match(
      out,
      /orders\.service:3:1 {2}error {2}unit orders\.service needs at least 30 s to stop; TimeoutStopSec gives 5 s\. {2}budget\/exceeds-grace/,
    );
    assert.match(out, /> 3 \| TimeoutStopSec=5\n\s+\| \^{16}\n/);
    assert.match(out, /30 s {2}graceful timeout {2}default of gunicorn \(graceful_timeout\)/);
    assert.match(out, /why What is still running/);
    assert.match(out, /2 files read: 2 errors\n$/);
  });
});

test("several formats are written at once, each to its file, and the screen stays free for text", async () => {
  await withFiles(RICH, async (cwd) => {
    const { out, code } = await run(
      cwd,
      "--format",
      "text",
      "--format",
      "json=out.json",
      "--format",
      "sarif=out.sarif",
      "--format",
      "junit=out.xml",
      "--format",
      "github=out.txt",
    );
    assert.equal(code, 1);
    assert.match(out, /2 errors/);
    const json = JSON.parse(readFileSync(path.join(cwd, "out.json"), "utf8")) as {
      schema: string;
      findings: { rule: string; line: number; endLine: number; fixable: boolean }[];
    };
    assert.equal(json.schema, "lastcall.lint/1");
    assert.deepEqual(
      json.findings.map(({ rule, line, fixable }) => [rule, line, fixable]),
      [
        ["docker/shell-form", 3, true],
        ["budget/exceeds-grace", 3, false],
      ],
    );
    assert.match(
      readFileSync(path.join(cwd, "out.txt"), "utf8"),
      /^::error file=a b%2Cc%3Ad\/Dockerfile,line=3,col=1,title=docker\/shell-form::[^\n]+\n::error file=orders\.service,line=3/,
    );
    const xml = readFileSync(path.join(cwd, "out.xml"), "utf8");
    assert.match(
      xml,
      /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="lastcall lint" tests="2" failures="2" errors="0">/,
    );
    assert.equal(xml.match(/<testcase /g)?.length, 2);
    assert.doesNotMatch(xml, /&(?!amp;|lt;|gt;|quot;)/);
  });
});

interface Sarif {
  readonly version: string;
  readonly runs: readonly {
    readonly tool: {
      readonly driver: { readonly name: string; readonly rules: readonly { readonly id: string }[] };
    };
    readonly results: readonly {
      readonly ruleId: string;
      readonly ruleIndex: number;
      readonly level: string;
      readonly message: { readonly text: string };
      readonly locations: readonly {
        readonly physicalLocation: {
          readonly artifactLocation: { readonly uri: string };
          readonly region: { readonly startLine: number; readonly startColumn: number };
        };
      }[];
    }[];
  }[];
}

/** The schema and its validator have a folder of their own: `npm ci` in tools/sarif. */
function sarifErrors(log: unknown): readonly unknown[] | "not installed" {
  const tools = path.join(ROOT, "tools/sarif");
  const schema = path.join(tools, "node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
  if (!existsSync(schema)) {
    return "not installed";
  }
  const require = createRequire(path.join(tools, "package.json"));
  const Ajv = require("ajv") as new (options: object) => {
    addMetaSchema(schema: unknown): void;
    compile(schema: unknown): ((data: unknown) => boolean) & { errors: unknown[] | null };
  };
  const ajv = new Ajv({ schemaId: "auto", unknownFormats: "ignore", logger: false });
  ajv.addMetaSchema(require("ajv/lib/refs/json-schema-draft-04.json"));
  const validate = ajv.compile(JSON.parse(readFileSync(schema, "utf8")));
  return validate(log) ? [] : (validate.errors ?? []);
}

test("SARIF has a rule for each result, places from 1, and paths as URIs", async () => {
  await withFiles(RICH, async (cwd) => {
    const log = JSON.parse((await run(cwd, "--format", "sarif")).out) as Sarif;
    assert.equal(log.version, "2.1.0");
    const [only] = log.runs;
    assert.ok(only !== undefined && log.runs.length === 1);
    assert.equal(only.results.length, 2);
    for (const { ruleId, ruleIndex, level, message, locations } of only.results) {
      assert.equal(only.tool.driver.rules[ruleIndex]?.id, ruleId);
      assert.ok(["error", "warning", "note"].includes(level) && message.text !== "");
      const { artifactLocation, region } = locations[0]?.physicalLocation ?? assert.fail();
      assert.equal(new URL(artifactLocation.uri, "file:///").pathname.slice(1), artifactLocation.uri);
      assert.ok(region.startLine >= 1 && region.startColumn >= 1);
    }
  });
});

test("SARIF is valid against the schema of 2.1.0, with and without findings", async (context) => {
  for (const files of [RICH, {}]) {
    await withFiles(files, async (cwd) => {
      const errors = sarifErrors(JSON.parse((await run(cwd, "--format", "sarif")).out));
      if (errors === "not installed" && process.env["CI"] !== "true") {
        context.skip("the schema is not installed: npm ci in tools/sarif");
        return;
      }
      assert.deepEqual(errors, []);
    });
  }
  const broken = sarifErrors({ version: "2.1.0", runs: [{ tool: {} }] });
  assert.ok(broken === "not installed" || broken.length > 0, "the validator sees nothing");
});

const FIXABLE: Files = {
  Dockerfile: "# top\r\nFROM debian:12\r\nCMD node   server.js --port 80\r\n",
  "a/Dockerfile": "FROM node:22\nSTOPSIGNAL KILL\nCMD ['node', 'server.js',]\n",
  "b/Dockerfile": 'FROM node:22\nENTRYPOINT ["node server.js"]\n',
  "c/Dockerfile": 'FROM node:22\nENTRYPOINT ["/bin/sh", "-c", "node migrate.js && node server.js"]\n',
  "d/Dockerfile": 'FROM node:22\nENTRYPOINT ["./start.sh"]\n',
  "d/start.sh": "#!/bin/sh\nset -e\nnode server.js   # the service\n",
  "compose.yaml":
    "services:\n  web:\n    image: x/y:1\n    # long uploads\n    stop_grace_period: '30' # s\n",
};

test("--fix does what is certain, keeps comments, blanks and line ends, and a second run finds nothing to do", async () => {
  await withFiles(FIXABLE, async (cwd) => {
    const read = (name: string): string => readFileSync(path.join(cwd, name), "utf8");
    const dry = await run(cwd, "--fix-dry-run");
    assert.match(dry.out, /-node server\.js {3}# the service\n\+exec node server\.js {3}# the service\n/);
    assert.equal(read("d/start.sh"), FIXABLE["d/start.sh"]);
    const first = await run(cwd, "--fix");
    assert.equal(
      read("Dockerfile"),
      '# top\r\nFROM debian:12\r\nCMD ["node", "server.js", "--port", "80"]\r\n',
    );
    assert.equal(read("a/Dockerfile"), 'FROM node:22\nSTOPSIGNAL SIGTERM\nCMD ["node", "server.js"]\n');
    assert.equal(read("b/Dockerfile"), 'FROM node:22\nENTRYPOINT ["node", "server.js"]\n');
    assert.equal(
      read("c/Dockerfile"),
      'FROM node:22\nENTRYPOINT ["/bin/sh", "-c", "node migrate.js && exec node server.js"]\n',
    );
    assert.equal(read("d/start.sh"), "#!/bin/sh\nset -e\nexec node server.js   # the service\n");
    assert.equal(
      read("compose.yaml"),
      "services:\n  web:\n    image: x/y:1\n    # long uploads\n    stop_grace_period: '30s' # s\n",
    );
    assert.equal(first.code, 0, first.out);
    const second = await run(cwd, "--fix");
    assert.match(second.err, /^0 fixes in 0 files/);
  });
});

test("a suppression needs a reason, holds for its line or the next, and is counted", async () => {
  await withFiles(
    {
      Dockerfile:
        "FROM debian:12\n# lastcall-ignore docker/shell-form: the manifest replaces it\nCMD node server.js\n",
    },
    async (cwd) => {
      const { out, code } = await run(cwd);
      assert.equal(code, 0);
      assert.match(out, /nothing found, 1 silenced/);
    },
  );
  await withFiles(
    {
      "a.service":
        "# lastcall-ignore-file systemd/kill-mode: children outlive it by design\n[Service]\nExecStart=/srv/a\nKillMode=none\n",
    },
    async (cwd) => {
      assert.equal((await run(cwd)).code, 0);
    },
  );
  await withFiles(
    { Dockerfile: "FROM debian:12\n# lastcall-ignore docker/shell-form\nCMD node server.js\n" },
    async (cwd) => {
      const { out, code } = await run(cwd);
      assert.equal(code, 1);
      assert.match(out, /docker\/shell-form/);
      assert.match(out, /lint\/suppression-reason/);
    },
  );
});

test("a baseline holds what was found, by line text, and nothing new", async () => {
  await withFiles(BAD, async (cwd) => {
    assert.equal((await run(cwd, "--write-baseline", "base.json")).code, 0);
    assert.equal((await run(cwd, "--baseline", "base.json", "--fail-on", "info")).code, 0);
  });
  await withFiles(
    {
      ...BAD,
      "base.json": JSON.stringify({
        schema: "lastcall.baseline/1",
        findings: [
          { rule: "docker/shell-form", file: "app/Dockerfile", text: "CMD node server.js", count: 1 },
        ],
      }),
    },
    async (cwd) => {
      const { out } = await run(cwd, "--baseline", "base.json");
      assert.match(out, /1 error\n$/);
    },
  );
});

test("severities come from the configuration, and unknown rules in it are findings", async () => {
  await withFiles(
    { ...BAD, "lastcall.config.json": JSON.stringify({ lint: { rules: { "docker/shell-form": "info" } } }) },
    async (cwd) => {
      assert.equal((await run(cwd)).code, 0);
    },
  );
  await withFiles(
    {
      ...BAD,
      "lastcall.config.json": JSON.stringify({
        lint: { rules: { "docker/shell-form": "off", "docker/shel-form": "off" } },
      }),
    },
    async (cwd) => {
      assert.match((await run(cwd)).out, /There is no rule 'docker\/shel-form'/);
    },
  );
});

test("--explain prints the page of every rule, and --list-rules names them all", async () => {
  for (const { id } of RULES) {
    assert.match((await run(ROOT, "--explain", id)).out, new RegExp(`^# ${id}\n[\\s\\S]+## Sources`));
  }
  assert.equal((await run(ROOT, "--list-rules")).out.trimEnd().split("\n").length, RULES.length);
});

test("flags give the budget for every workload, and the origin says so", async () => {
  const files = { "compose.yaml": "services:\n  web:\n    image: x/y:1\n" };
  await withFiles(files, async (cwd) => {
    const { out, code } = await run(cwd, "--graceful-timeout", "15s", "--drain-delay", "1s");
    assert.equal(code, 1);
    assert.match(out, /15 s {2}graceful timeout {3}--graceful-timeout/);
  });
});

test("- is standard input", () => {
  const lint = (...args: readonly string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [path.join(ROOT, "packages/lab/bin/lastcall.js"), "lint", ...args], {
      input: "services:\n  w:\n    image: x\n    stop_signal: SIGKILL\n",
      encoding: "utf8",
    });
  const ran = lint("-");
  assert.match(ran.stdout, /^-:4:18 .* docker\/stopsignal-kill$/m);
  assert.equal(ran.status, 1);
  const fixing = lint("-", "--fix");
  assert.equal(fixing.status, 2);
  assert.match(fixing.stderr, /--fix cannot write to standard input\.\nUse --fix-dry-run/);
});

test("a flag that does not exist is answered with the nearest one", async () => {
  await assert.rejects(run(ROOT, "--formt", "json"), (error: LabError) => {
    assert.equal(error.code, "LAB_USAGE");
    assert.equal(error.message, "lastcall lint has no flag --formt.");
    assert.match(error.next, /^Did you mean --format\? /);
    return true;
  });
});

test("a folder in which nothing is read says so", async () => {
  await withFiles({ "a.txt": "" }, async (cwd) => {
    assert.match((await run(cwd)).out, /^0 files read: there is nothing here that lint knows/);
  });
});

test("--fix on a full disk leaves the file as it was", async () => {
  const compose = `${"# a comment\n".repeat(200)}services:\n  w:\n    image: x\n    stop_signal: SIGKILL\n`;
  await withFiles({ "compose.yaml": compose }, async (cwd) => {
    // A limit on the size of files stands for the disk: a write is cut off in the same way.
    const full = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
    const lastcall = [process.execPath, path.join(ROOT, "packages/lab/bin/lastcall.js")];
    const ran = spawnSync("/bin/sh", ["-c", full, "sh", ...lastcall, "lint", "--fix"], {
      cwd,
      encoding: "utf8",
    });
    assert.equal(ran.status, 3, ran.stderr);
    assert.match(ran.stderr, /^lastcall: compose\.yaml cannot be written: .*\n.*\[LAB_LINT_WRITE\]$/m);
    assert.equal(readFileSync(path.join(cwd, "compose.yaml"), "utf8"), compose);
    assert.deepEqual(readdirSync(cwd), ["compose.yaml"]);
    await Promise.resolve();
  });
});

test("--fix keeps the rights of a file, and writes through a link", async () => {
  const compose = "services:\n  w:\n    image: x\n    stop_signal: SIGKILL\n";
  await withFiles({ "real.txt": compose }, async (cwd) => {
    chmodSync(path.join(cwd, "real.txt"), 0o640);
    symlinkSync("real.txt", path.join(cwd, "compose.yaml"));
    assert.equal((await run(cwd, "--fix")).code, 0);
    assert.match(readFileSync(path.join(cwd, "real.txt"), "utf8"), /stop_signal: SIGTERM/);
    assert.equal(statSync(path.join(cwd, "real.txt")).mode & 0o777, 0o640);
    assert.deepEqual(readdirSync(cwd), ["compose.yaml", "real.txt"]);
  });
});
