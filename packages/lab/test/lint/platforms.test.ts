/** Each platform's files as workloads: which timer, from where, and whose numbers are in the sum. */

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { sumOf, worstSum } from "../../src/lint/budget.ts";
import { originText } from "../../src/lint/time.ts";
import { lint } from "../../src/lint/run.ts";
import { type Files, lintFiles, withFiles } from "./lint-files.ts";

/** Each workload as `name: timer ms (origin)`, with its sum where one is known. */
function timers(files: Files): readonly string[] {
  return lintFiles(files).model.workloads.map((workload) => {
    const { timer, name } = workload;
    const sum = worstSum(workload);
    const items = (sum?.items ?? []).map((item) => `${item.ms} ${originText(item.origin)}`);
    return `${name}: ${timer === undefined ? "none" : `${timer.name} ${timer.ms} (${originText(timer.origin)})`}${items.length === 0 ? "" : ` <- ${items.join(" + ")}`}`;
  });
}

test("Kubernetes: 30 s by default, in every kind that has a pod, in lists and with merge keys", () => {
  const pod = "{ spec: { containers: [{ name: a, image: x/y:1 }] } }";
  assert.deepEqual(
    timers({
      "a.yaml": `apiVersion: v1
kind: List
items:
  - { apiVersion: apps/v1, kind: StatefulSet, metadata: { name: s }, spec: { template: ${pod} } }
  - { apiVersion: batch/v1, kind: CronJob, metadata: { name: c }, spec: { jobTemplate: { spec: { template: ${pod} } } } }
---
apiVersion: v1
kind: Pod
metadata: { name: p }
spec: &base
  terminationGracePeriodSeconds: 7
  containers: [{ name: a, image: x/y:1 }]
---
apiVersion: v1
kind: Pod
metadata: { name: q }
spec: { <<: [{ terminationGracePeriodSeconds: 8 }], containers: [{ name: a, image: x/y:1 }] }
`,
    }),
    [
      "StatefulSet s: terminationGracePeriodSeconds 30000 (default of Kubernetes)",
      "CronJob c: terminationGracePeriodSeconds 30000 (default of Kubernetes)",
      "Pod p: terminationGracePeriodSeconds 7000 (a.yaml:11)",
      "Pod q: terminationGracePeriodSeconds 8000 (a.yaml:17)",
    ],
  );
});

test("Compose: merge keys, extends across files, override files, .env and defaults in variables", () => {
  assert.deepEqual(
    timers({
      ".env": "GRACE=45s\n",
      "compose.yaml":
        "x-base: &base\n  stop_grace_period: 20s\nservices:\n  a:\n    <<: *base\n    image: x/a\n  b:\n    extends: { file: other.yaml, service: base }\n  c:\n    image: x/c\n    environment: { LASTCALL_DRAIN_DELAY: '${DELAY:-2s}' }\n",
      "compose.override.yaml": "services:\n  c:\n    stop_grace_period: 1m\n",
      "other.yaml": "services:\n  base:\n    image: x/b\n    stop_grace_period: 30s\n",
    }),
    [
      "service a: stop_grace_period 20000 (compose.yaml:2)",
      "service b: stop_grace_period 30000 (other.yaml:4)",
      "service c: stop_grace_period 60000 (compose.override.yaml:3) <- 2000 compose.yaml:11",
      "service base: stop_grace_period 30000 (other.yaml:4)",
    ],
  );
});

test("Compose: the budget comes from the Dockerfile's environment and from source in the build context", () => {
  assert.deepEqual(
    timers({
      "compose.yaml":
        "services:\n  a: { build: { context: a, dockerfile: prod.Dockerfile } }\n  b: { build: b }\n",
      "a/prod.Dockerfile":
        'FROM node:22 AS base\nENV LASTCALL_GRACEFUL_TIMEOUT=5s\nFROM base\nCMD ["node", "x.js"]\n',
      "b/Dockerfile": 'FROM node:22\nCMD ["node", "src/x.js"]\n',
      "b/src/x.js":
        "const life = createLifecycle({\n  drainDelayMs: 2 * 1000,\n  gracefulTimeoutMs: 4_000,\n});\n",
    }),
    [
      "service a: stop_grace_period 10000 (default of Compose) <- 5000 a/prod.Dockerfile:2",
      "service b: stop_grace_period 10000 (default of Compose) <- 2000 b/src/x.js:2 + 4000 b/src/x.js:3",
    ],
  );
});

test("services of one repository that are built from its top do not share a budget", () => {
  assert.deepEqual(
    timers({
      "compose.yaml":
        "services:\n  a: { build: { context: ., dockerfile: a/Dockerfile } }\n  b: { build: { context: ., dockerfile: b/Dockerfile } }\n",
      "package.json": "{}",
      "a/package.json": "{}",
      "b/package.json": "{}",
      "a/Dockerfile": 'FROM node:22\nCMD ["node", "a/x.js"]\n',
      "b/Dockerfile": 'FROM node:22\nCMD ["node", "b/x.js"]\n',
      "a/x.js": "createLifecycle({ gracefulTimeoutMs: 4000 });\n",
      "b/x.js": "serve();\n",
    }),
    [
      "service a: stop_grace_period 10000 (default of Compose) <- 4000 a/x.js:1",
      "service b: stop_grace_period 10000 (default of Compose)",
    ],
  );
});

test("files above the working directory are linked like those below it", () => {
  const files = {
    "up/compose.yaml": "services:\n  a: { build: ./svc }\n",
    "up/svc/Dockerfile": 'FROM node:22\nENV LASTCALL_GRACEFUL_TIMEOUT=5s\nCMD ["node", "x.js"]\n',
    "here/x": "",
  };
  const [workload] = withFiles(
    files,
    (cwd) => lint({ cwd: path.join(cwd, "here"), paths: ["../up"] }).model.workloads,
  );
  assert.equal(workload === undefined ? undefined : worstSum(workload)?.sumMs, 5000);
});

test("two sources that say different things leave the budget unknown", () => {
  assert.deepEqual(
    timers({
      "compose.yaml": "services:\n  b: { build: . }\n",
      Dockerfile: 'FROM node:22\nCMD ["node", "x.js"]\n',
      "x.js": "createLifecycle({ gracefulTimeoutMs: 4000 });\n",
      "y.js": "createLifecycle({ gracefulTimeoutMs: 5000 });\n",
    }),
    ["service b: stop_grace_period 10000 (default of Compose)"],
  );
});

test("skaffold and the configuration link an image's name to its build context", () => {
  const pod =
    "apiVersion: v1\nkind: Pod\nmetadata: { name: p }\nspec: { containers: [{ name: a, image: 'registry.example/a:7' }] }\n";
  const docker = {
    "svc/Dockerfile": 'FROM node:22\nENV LASTCALL_GRACEFUL_TIMEOUT=5s\nCMD ["node", "x.js"]\n',
  };
  const linked = [
    "Pod p: terminationGracePeriodSeconds 30000 (default of Kubernetes) <- 5000 svc/Dockerfile:2",
  ];
  assert.deepEqual(
    timers({
      ...docker,
      "p.yaml": pod,
      "skaffold.yaml":
        "apiVersion: skaffold/v4beta11\nkind: Config\nbuild: { artifacts: [{ image: registry.example/a, context: svc }] }\n",
    }),
    linked,
  );
  assert.deepEqual(
    timers({
      ...docker,
      "p.yaml": pod,
      "lastcall.config.json": '{"lint":{"images":{"registry.example/a":"svc"}}}',
    }),
    linked,
  );
  assert.deepEqual(timers({ ...docker, "p.yaml": pod }), [
    "Pod p: terminationGracePeriodSeconds 30000 (default of Kubernetes)",
  ]);
});

test("systemd: 90 s by default, a oneshot has no timer, infinity is no limit", () => {
  const unit = (text: string): string => `[Service]\nExecStart=/srv/a\n${text}`;
  assert.deepEqual(
    timers({
      "a.service": unit(""),
      "b.service": unit("Type=oneshot\n"),
      "c.service": unit("TimeoutStopSec=infinity\n"),
      "d.service": unit("TimeoutStopSec=\\\n  2min\n"),
    }),
    [
      "unit a.service: TimeoutStopSec 90000 (default of systemd)",
      "unit b.service: none",
      "unit c.service: TimeoutStopSec Infinity (c.service:3)",
      "unit d.service: TimeoutStopSec 120000 (d.service:3)",
    ],
  );
});

test("ECS: 30 s by default, at most 120 s on Fargate", () => {
  const task = (extra: object): string =>
    JSON.stringify({
      ...extra,
      containerDefinitions: [
        { name: "a", image: "x" },
        { name: "b", image: "x", stopTimeout: 300 },
      ],
    });
  assert.deepEqual(
    timers({ "ec2.json": task({}), "fargate.json": task({ requiresCompatibilities: ["FARGATE"] }) }),
    [
      "ECS container a: stopTimeout 30000 (default of ECS)",
      "ECS container b: stopTimeout 300000 (ec2.json:1)",
      "ECS container a: stopTimeout 30000 (default of ECS)",
      "ECS container b: stopTimeout 120000 (fargate.json:1)",
    ],
  );
});

test("Nomad: 5 s by default, nanoseconds as the API writes them, and durations", () => {
  const job = {
    Job: {
      TaskGroups: [
        {
          Tasks: [
            { Name: "a" },
            { Name: "b", KillTimeout: 20_000_000_000 },
            { Name: "c", KillTimeout: "1m" },
          ],
        },
      ],
    },
  };
  assert.deepEqual(timers({ "job.json": JSON.stringify(job) }), [
    "Nomad task a: kill_timeout 5000 (default of Nomad)",
    "Nomad task b: kill_timeout 20000 (job.json:1)",
    "Nomad task c: kill_timeout 60000 (job.json:1)",
  ]);
});

test("pm2: 1.6 s by default, from JavaScript and JSON, with the source beside it", () => {
  assert.deepEqual(
    timers({
      "a/ecosystem.config.cjs":
        "// all apps\nmodule.exports = {\n  apps: [\n    { name: 'a', script: `x.js` }, // default\n    { name: \"b\", script: './y.js', kill_timeout: 5000, },\n  ],\n};\n",
      "a/y.js": "createLifecycle({ gracefulTimeoutMs: 3000 });\n",
      "b/pm2.json": '{"apps":[{"name":"c","script":"z.js","kill_timeout":3000}]}',
    }),
    [
      "pm2 app a: kill_timeout 1600 (default of pm2)",
      "pm2 app b: kill_timeout 5000 (a/ecosystem.config.cjs:5) <- 3000 a/y.js:1",
      "pm2 app c: kill_timeout 3000 (b/pm2.json:1)",
    ],
  );
});

test("supervisord: 10 s by default", () => {
  assert.deepEqual(
    timers({
      "supervisord.conf":
        "[supervisord]\nnodaemon=true\n[program:a]\ncommand=/srv/a\n[program:b]\ncommand=/srv/b\nstopwaitsecs=30\n",
    }),
    [
      "supervisord program a: stopwaitsecs 10000 (default of supervisord)",
      "supervisord program b: stopwaitsecs 30000 (supervisord.conf:7)",
    ],
  );
});

test("servers: a flag, its default, and nothing where a configuration file may say otherwise", () => {
  const command = (text: string): readonly string[] =>
    timers({
      "compose.yaml": `services:\n  a:\n    image: x/y\n    stop_grace_period: 60s\n    command: ${text}\n`,
    });
  const head = "service a: stop_grace_period 60000 (compose.yaml:4)";
  assert.deepEqual(command("gunicorn --graceful-timeout 45 a:b"), [`${head} <- 45000 compose.yaml:5`]);
  assert.deepEqual(command("python -m gunicorn --graceful-timeout=45 a:b"), [
    `${head} <- 45000 compose.yaml:5`,
  ]);
  assert.deepEqual(command("bundle exec sidekiq"), [`${head} <- 25000 default of sidekiq (timeout)`]);
  assert.deepEqual(command("gunicorn -c gunicorn.conf.py a:b"), [head]);
  assert.deepEqual(command("uvicorn a:b"), [head]);
});

test("the whole grace period that the library is given is one item", () => {
  const [workload] = lintFiles({
    "compose.yaml": "services:\n  a:\n    image: x/y\n    environment: [LASTCALL_GRACE_PERIOD=9s]\n",
  }).model.workloads;
  const [member] = workload?.members ?? [];
  assert.ok(workload !== undefined && member !== undefined);
  const sum = sumOf(workload, member);
  assert.deepEqual(
    [sum?.sumMs, sum?.complete, sum?.items.map(({ name }) => name)],
    [9000, true, ["the service's own grace period"]],
  );
});
