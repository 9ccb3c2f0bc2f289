/** Right files that a careless linter would accuse. Each test is one way to be wrong. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { brief, lintFiles, rulesFound } from "./lint-files.ts";

interface Manifest {
  readonly container?: string;
  readonly pod?: string;
  readonly spec?: string;
  readonly kind?: string;
  readonly service?: string;
  readonly more?: string;
}

/** A Deployment that is right, with a Service; each test changes one thing. */
function manifest({
  container = "",
  pod = "terminationGracePeriodSeconds: 45",
  spec = "replicas: 3",
  kind = "Deployment",
  service = "type: ClusterIP",
  more = "",
}: Manifest): string {
  return `apiVersion: apps/v1
kind: ${kind}
metadata: { name: orders }
spec:
  ${spec}
  selector: { matchLabels: { app: orders } }
  template:
    metadata: { labels: { app: orders } }
    spec:
      ${pod}
      containers:
        - name: orders
          image: registry.example/orders:1
          ports: [{ containerPort: 8080 }]
          readinessProbe: { httpGet: { path: /readyz, port: 8080 } }
          ${container}
${more}
---
apiVersion: v1
kind: Service
metadata: { name: orders }
spec:
  ${service}
  selector: { app: orders }
  ports: [{ port: 80, targetPort: 8080 }]
`;
}

const SLEEP = "lifecycle: { preStop: { sleep: { seconds: 5 } } }";

function config(lint: object): string {
  return JSON.stringify({ lint });
}

test("1 the text form is a note on Alpine and with a bash SHELL, an error on Debian, a warning on an unknown base", () => {
  const shape = (head: string): readonly string[] => brief({ Dockerfile: `${head}\nCMD node server.js\n` });
  assert.deepEqual(shape("FROM node:22-alpine"), ["info docker/shell-form Dockerfile:2"]);
  assert.deepEqual(shape('FROM node:22-bookworm\nSHELL ["/bin/bash", "-o", "pipefail", "-c"]'), [
    "info docker/shell-form Dockerfile:3",
  ]);
  assert.deepEqual(shape("FROM node:22-bookworm"), ["error docker/shell-form Dockerfile:2"]);
  assert.deepEqual(shape("FROM registry.example/base:4"), ["warning docker/shell-form Dockerfile:2"]);
});

test("1 the base is known through build arguments and stage names, and /bin/sh may be linked anew", () => {
  assert.deepEqual(
    brief({
      Dockerfile:
        "ARG BASE=node:22-alpine\nFROM ${BASE} AS base\nFROM base AS app\nFROM app\nCMD node server.js\n",
    }),
    ["info docker/shell-form Dockerfile:5"],
  );
  assert.deepEqual(
    brief({ Dockerfile: "FROM debian:12\nRUN ln -sf /bin/bash /bin/sh\nCMD node server.js\n" }),
    ["info docker/shell-form Dockerfile:3"],
  );
});

test("1 only the last stage runs", () => {
  assert.deepEqual(
    brief({
      Dockerfile: 'FROM debian:12 AS dev\nCMD node server.js\nFROM debian:12\nCMD ["node", "server.js"]\n',
    }),
    [],
  );
});

test("2 liveness on readiness' path is no drain bug: a note, never more", () => {
  const found = brief({
    "d.yaml": manifest({
      container: `${SLEEP}\n          livenessProbe: { httpGet: { path: /readiness-free, port: 8080 } }`,
    })
      .replaceAll("/readiness-free", "/healthz")
      .replaceAll("/readyz", "/healthz"),
  });
  assert.deepEqual(found, ["info probe/liveness-same-as-readiness d.yaml:17"]);
});

test("2 unset probes, other headers, other ports and scripts are not the same probe", () => {
  for (const liveness of [
    "livenessProbe: { exec: { command: [check] } }",
    "livenessProbe: { httpGet: { path: /readyz, port: 9000 } }",
    "livenessProbe: { httpGet: { path: /readyz, port: 8080, httpHeaders: [{ name: X-Live, value: yes }] } }",
    "startupProbe: { httpGet: { path: /readyz, port: 8080 } }",
  ]) {
    assert.deepEqual(
      brief({ "d.yaml": manifest({ container: `${SLEEP}\n          ${liveness}` }) }),
      [],
      liveness,
    );
  }
});

test("3 a slow readiness probe does not bind the drain delay behind a Service: endpoints leave at once", () => {
  const container = `${SLEEP}\n          env: [{ name: LASTCALL_DRAIN_DELAY, value: "0" }]`;
  const slow = manifest({ container }).replace(
    "port: 8080 } }",
    "port: 8080 }, periodSeconds: 30, failureThreshold: 10 }",
  );
  assert.deepEqual(brief({ "d.yaml": slow }), []);
});

test("4 failing readiness on the stop signal is right for a poller and wrong for Local", () => {
  const container = "env: [{ name: LASTCALL_DRAIN_DELAY, value: 15s }]";
  const alb = `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: orders, annotations: { alb.ingress.kubernetes.io/target-type: ip } }
spec:
  ingressClassName: alb
  rules: [{ http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: orders, port: { number: 80 } } } }] } }]
`;
  const gated =
    "terminationGracePeriodSeconds: 45\n      readinessGates: [{ conditionType: target-health.elbv2.k8s.aws/orders }]";
  assert.deepEqual(brief({ "d.yaml": manifest({ container, pod: gated }) + alb }), []);
  assert.deepEqual(
    brief({
      "d.yaml": manifest({ container, service: "type: LoadBalancer\n  externalTrafficPolicy: Local" }),
    }),
    ["warning router/etp-local-fails-readiness d.yaml:24"],
  );
});

test("5 a sleep in ExecStop is not taken from the time after SIGTERM, a preStop sleep is", () => {
  const unit = "[Service]\nExecStart=/srv/orders\nExecStop=/bin/sleep 25\nTimeoutStopSec=30\n";
  const budgets = { "*": { gracefulTimeout: "20s", teardownTimeout: "5s" } };
  assert.deepEqual(rulesFound({ "orders.service": unit, "lastcall.config.json": config({ budgets }) }), []);
  const pod = manifest({ pod: "terminationGracePeriodSeconds: 30", container: SLEEP.replace("5", "25") });
  assert.deepEqual(rulesFound({ "d.yaml": pod, "lastcall.config.json": config({ budgets }) }), [
    "budget/exceeds-grace",
  ]);
});

test("6 a preStop as long as the grace period still gives SIGTERM and 2 s, and the text says so", () => {
  const pod = manifest({
    pod: "terminationGracePeriodSeconds: 30",
    container: 'lifecycle: { preStop: { exec: { command: [sleep, "40"] } } }',
  });
  const [only, ...rest] = lintFiles({ "d.yaml": pod }).findings;
  assert.deepEqual([only?.rule, rest.length], ["budget/prestop-eats-grace", 0]);
  assert.match(only?.message ?? "", /gets SIGTERM with 2 s left/);
});

test("7 a graceful signal that the official image sets is right", () => {
  for (const [image, command] of [
    ["nginx:1.29", ""],
    ["php:8.4-fpm", ""],
    ["httpd:2.4", ""],
    ["postgres:17", ""],
    ["haproxy:3.2", ""],
    ["nginx:1.29", 'CMD ["nginx", "-g", "daemon off;"]\n'],
  ]) {
    assert.deepEqual(brief({ Dockerfile: `FROM ${image}\nCOPY x /x\n${command}` }), [], image);
  }
});

test("8 a hook whose time is unknown is not zero and not a guess, and an annotation tells it", () => {
  const hook = "lifecycle: { preStop: { httpGet: { path: /drain, port: 8080 } } }";
  const budgets = { "*": { gracefulTimeout: "25s" } };
  const text = manifest({ pod: "terminationGracePeriodSeconds: 30", container: hook });
  assert.deepEqual(rulesFound({ "d.yaml": text, "lastcall.config.json": config({ budgets }) }), []);
  const told = text.replace(
    "metadata: { labels: { app: orders } }",
    "metadata: { labels: { app: orders }, annotations: { lastcall/prestop: 10s } }",
  );
  assert.deepEqual(rulesFound({ "d.yaml": told, "lastcall.config.json": config({ budgets }) }), [
    "budget/exceeds-grace",
  ]);
});

test("9 rules about defaults that changed need a version", () => {
  const nginx =
    "events {}\nworker_shutdown_timeout 9s;\nhttp { upstream a { server 10.0.0.1; server 10.0.0.2; keepalive 8; } server { location / { proxy_pass http://a; } } }\n";
  assert.deepEqual(brief({ "nginx.conf": nginx }), []);
  assert.deepEqual(
    rulesFound(
      { "nginx.conf": nginx },
      { versions: { nginx: [1, 28, 0], kubernetes: undefined, node: undefined } },
    ),
    ["nginx/keepalive-needs-http11"],
  );
  assert.deepEqual(
    rulesFound(
      { "nginx.conf": nginx },
      { versions: { nginx: [1, 29, 7], kubernetes: undefined, node: undefined } },
    ),
    [],
  );
});

test("9 Node's keep-alive default is judged only for a version that has it, and not behind a framework that sets one", () => {
  const found = (node: string, dependencies: object = {}): readonly string[] =>
    rulesFound({
      Dockerfile: 'FROM node:22\nCMD ["node", "server.js"]\n',
      "server.js": "require('./stop'); // SIGTERM\nrequire('node:http').createServer().listen(80);\n",
      "package.json": JSON.stringify({ dependencies }),
      "lastcall.config.json": config({
        images: { "registry.example/orders": "." },
        ...(node === "" ? {} : { node }),
      }),
      "d.yaml": `${manifest({ container: SLEEP.replace("5", "20") })}---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: orders, annotations: { alb.ingress.kubernetes.io/target-type: instance } }
spec: { ingressClassName: alb, defaultBackend: { service: { name: orders, port: { number: 80 } } } }
`,
    });
  assert.deepEqual(found("22"), ["router/keepalive-shorter-than-proxy"]);
  assert.deepEqual(found(""), []);
  assert.deepEqual(found("26"), []);
  assert.deepEqual(found("22", { fastify: "5" }), []);
});

test("10 a Compose string is split into words and meets no shell; a Dockerfile's does", () => {
  assert.deepEqual(
    brief({ "compose.yaml": "services:\n  a:\n    image: debian:12\n    command: node a.js && node b.js\n" }),
    [],
  );
  assert.deepEqual(
    brief({
      "compose.yaml": "services:\n  a:\n    image: debian:12\n    command: sh -c 'node a.js && node b.js'\n",
    }),
    ["error docker/shell-wrapper-no-exec compose.yaml:4"],
  );
});

test("10 ExecStart meets no shell, and systemd signals the children of one", () => {
  assert.deepEqual(brief({ "a.service": "[Service]\nExecStart=/bin/sh -c 'node a.js'\n" }), []);
  assert.deepEqual(
    brief({ "a.service": "[Service]\nExecStart=/bin/dash -c 'node a.js'\nKillMode=mixed\n" }),
    ["error docker/shell-wrapper-no-exec a.service:2"],
  );
});

test("11 what the manifest runs counts, not what it replaces", () => {
  const files = {
    "web/Dockerfile": 'FROM node:22\nENTRYPOINT ["node", "server.js"]\n',
    "compose.yaml": 'services:\n  web:\n    build: web\n    entrypoint: ["sh", "-c", "exec node other.js"]\n',
  };
  assert.deepEqual(brief(files), []);
});

test("11 templates are refused with advice, once per folder, and text that holds braces is not a template", () => {
  const template = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Values.name }}\n";
  assert.deepEqual(brief({ "chart/templates/a.yaml": template, "chart/templates/b.yaml": template }), [
    "info file/template chart/templates/a.yaml:4",
  ]);
  assert.deepEqual(
    brief({
      "map.yaml": 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata:\n  b: "{{ .Values.x }}"\n',
    }),
    [],
  );
});

test("12 no grace, Recreate and one replica are deliberate where no Service sends", () => {
  const pause =
    manifest({
      pod: "terminationGracePeriodSeconds: 0",
      spec: "replicas: 1\n  strategy: { type: Recreate }",
    }).split("---")[0] ?? "";
  assert.deepEqual(brief({ "d.yaml": pause }), []);
  assert.deepEqual(
    brief({ "d.yaml": manifest({ container: SLEEP, kind: "Job", spec: "completions: 1" }) }),
    [],
  );
});

test("12 with an autoscaler the number of replicas is unknown", () => {
  const scaler =
    "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: { name: a }\nspec:\n  scaleTargetRef: { kind: Deployment, name: orders }\n";
  assert.deepEqual(
    brief({ "d.yaml": manifest({ container: SLEEP, spec: "minReadySeconds: 0" }) + scaler }),
    [],
  );
});

test("13 TimeoutSec sets both times, later assignments and drop-ins win, empty ones reset", () => {
  const budgets = { "*": { gracefulTimeout: "20s", teardownTimeout: "5s" } };
  const unit = (text: string, dropIn?: string): readonly string[] =>
    rulesFound({
      "orders@.service": `[Service]\nExecStart=/srv/orders\n${text}`,
      ...(dropIn === undefined ? {} : { "orders@.service.d/20-stop.conf": `[Service]\n${dropIn}` }),
      "lastcall.config.json": config({ budgets }),
    });
  assert.deepEqual(unit("TimeoutSec=10\n"), ["budget/exceeds-grace"]);
  assert.deepEqual(unit("TimeoutSec=10\nTimeoutStopSec=1min\n"), []);
  assert.deepEqual(unit("TimeoutStopSec=10\n", "TimeoutStopSec=60\n"), []);
  assert.deepEqual(unit("TimeoutStopSec=60\n", "TimeoutStopSec=\nTimeoutStopSec=10\n"), [
    "budget/exceeds-grace",
  ]);
});

test("14 a sum with unknown parts says 'at least', and defaults are named as such", () => {
  const [only] = lintFiles({
    "a.service": "[Service]\nExecStart=/usr/bin/gunicorn site.wsgi\nTimeoutStopSec=5\n",
  }).findings;
  assert.match(only?.message ?? "", /at least 30 s/);
  assert.match((only?.details ?? []).join("\n"), /default of gunicorn/);
});

test("15 entrypoints of base images are not seen and not accused", () => {
  assert.deepEqual(
    brief({ Dockerfile: 'FROM node:22\nENTRYPOINT ["docker-entrypoint.sh"]\nCMD ["node", "server.js"]\n' }),
    [],
  );
  assert.deepEqual(
    brief({
      Dockerfile: 'FROM postgres:17\nENTRYPOINT ["/usr/local/bin/docker-entrypoint.sh"]\nCMD ["postgres"]\n',
    }),
    [],
  );
});

test("15 scripts that trap and wait, branch, or end in exec are left alone", () => {
  for (const body of [
    'node server.js &\npid=$!\ntrap "kill $pid" TERM INT\nwait $pid\n',
    'case "$1" in\n  serve) exec node server.js ;;\n  *) exec "$@" ;;\nesac\n',
    'if [ "$1" = serve ]; then\n  exec node server.js\nelse\n  node task.js\nfi\n',
    "while ! nc -z db 5432; do sleep 1; done\nexec node server.js\n",
    ". ./env.sh\nexec gosu app node server.js\n",
    "cat > app.conf <<EOF\nport $PORT\nEOF\nexec app -c app.conf\n",
  ]) {
    assert.deepEqual(
      brief({ Dockerfile: 'FROM debian:12\nENTRYPOINT ["./start.sh"]\n', "start.sh": `#!/bin/sh\n${body}` }),
      [],
      body,
    );
  }
});

test("16 containers stop at the same time: the largest counts, not the sum", () => {
  const more =
    '        - name: second\n          image: registry.example/second:1\n          lifecycle: { preStop: { exec: { command: [sleep, "20"] } } }';
  const pod = manifest({ pod: "terminationGracePeriodSeconds: 30", container: SLEEP, more });
  assert.deepEqual(
    rulesFound({
      "d.yaml": pod,
      "lastcall.config.json": config({ budgets: { orders: { gracefulTimeout: "20s" } } }),
    }),
    [],
  );
});

test("17 an image is linked by build context or configuration, never by its name alone", () => {
  const files = {
    "orders/Dockerfile": 'FROM node:22\nCMD ["node", "server.js"]\n',
    "orders/server.js":
      "createLifecycle({ gracefulTimeoutMs: 60_000, drainDelayMs: 0, teardownTimeoutMs: 5_000 });\n",
    "k8s/d.yaml": manifest({ container: SLEEP }),
  };
  assert.deepEqual(rulesFound(files), []);
  assert.deepEqual(
    rulesFound({
      ...files,
      "lastcall.config.json": config({ images: { "registry.example/orders": "orders" } }),
    }),
    ["budget/exceeds-grace"],
  );
});

test("prestop hooks in branches or with unknown commands count as unknown, plain sleeps add up", () => {
  const hook = (command: string): Partial<Manifest> => ({
    pod: "terminationGracePeriodSeconds: 30",
    container: `lifecycle: { preStop: { exec: { command: [sh, -c, "${command}"] } } }`,
  });
  const budgets = { "*": { gracefulTimeout: "10s" } };
  const found = (command: string): readonly string[] =>
    rulesFound({ "d.yaml": manifest(hook(command)), "lastcall.config.json": config({ budgets }) });
  assert.deepEqual(found("sleep 15; sleep 15"), ["budget/prestop-eats-grace"]);
  assert.deepEqual(found("touch /tmp/x && sleep 15 && sleep 8"), ["budget/exceeds-grace"]);
  assert.deepEqual(found("if test -f /x; then sleep 25; fi"), []);
  assert.deepEqual(found("/usr/bin/drain --wait"), []);
});

test("11 a CMD of an older stage is dropped by a newer ENTRYPOINT", () => {
  assert.deepEqual(
    brief({
      Dockerfile:
        'FROM debian:12 AS base\nCMD ["sh", "-c", "node a.js"]\nFROM base\nENTRYPOINT ["tini", "--"]\n',
    }),
    [],
  );
  assert.deepEqual(
    brief({ Dockerfile: 'FROM debian:12\nENTRYPOINT ["tini", "--"]\nCMD ["sh", "-c", "node a.js"]\n' }),
    ["error docker/init-child-is-shell Dockerfile:2"],
  );
});

test("12 a Service selects by all of its labels", () => {
  const other = manifest({}).replace(
    "selector: { app: orders }\n  ports",
    "selector: { app: orders, tier: web }\n  ports",
  );
  assert.deepEqual(brief({ "d.yaml": other }), []);
  assert.deepEqual(
    rulesFound({
      "d.yaml": other.replace(
        "metadata: { labels: { app: orders } }",
        "metadata: { labels: { app: orders, tier: web } }",
      ),
    }),
    ["k8s/no-predrain"],
  );
});

test("17 an image that is not linked does not get another one's budget", () => {
  const files = {
    Dockerfile: 'FROM node:22\nENV LASTCALL_GRACEFUL_TIMEOUT=90s\nCMD ["node", "server.js"]\n',
    "d.yaml": manifest({ container: SLEEP }),
  };
  const linked = (name: string): readonly string[] =>
    rulesFound({ ...files, "lastcall.config.json": config({ images: { [name]: "." } }) });
  assert.deepEqual(linked("registry.example/orders"), ["budget/exceeds-grace"]);
  assert.deepEqual(linked("registry.example/cart"), []);
});

/** What each rule's page names as deliberate: nothing above a note may be said about these. */
const DELIBERATE: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  [
    "a mesh drains in its own way",
    {
      "d.yaml": manifest({}).replace(
        "metadata: { labels: { app: orders } }",
        'metadata: { labels: { app: orders, sidecar.istio.io/inject: "true" } }',
      ),
    },
  ],
  [
    "peers behind a headless Service",
    { "d.yaml": manifest({ service: "clusterIP: None\n  publishNotReadyAddresses: true" }) },
  ],
  [
    "a Service for one pod of a StatefulSet",
    {
      "d.yaml": manifest({ service: "publishNotReadyAddresses: true" }).replace(
        "selector: { app: orders }\n  ports",
        "selector: { app: orders, statefulset.kubernetes.io/pod-name: orders-0 }\n  ports",
      ),
    },
  ],
  [
    "only a scraper uses it",
    {
      "d.yaml": manifest({}).replace(
        "ports: [{ port: 80, targetPort: 8080 }]",
        "ports: [{ name: metrics, port: 80, targetPort: 8080 }]",
      ),
    },
  ],
  [
    "an agent of each node may stop quickly",
    {
      "d.yaml": manifest({
        kind: "DaemonSet",
        spec: "minReadySeconds: 0",
        pod: "terminationGracePeriodSeconds: 5",
        container: "lifecycle: { preStop: { sleep: { seconds: 1 } } }",
      }),
    },
  ],
  [
    "a leader is elected among few",
    { "d.yaml": manifest({ spec: "replicas: 1", container: `${SLEEP}\n          args: [--leader-elect]` }) },
  ],
  [
    "a claim is held by one pod",
    {
      "d.yaml": manifest({
        spec: "replicas: 1\n  strategy: { type: Recreate }",
        container: SLEEP,
        pod: "volumes: [{ name: v, persistentVolumeClaim: { claimName: v } }]",
      }),
    },
  ],
  [
    "a database's clients reconnect",
    {
      "d.yaml": manifest({ kind: "StatefulSet" }).replace(
        "registry.example/orders:1",
        "docker.io/library/postgres:17",
      ),
    },
  ],
  [
    "busybox sleeps in a minimal image",
    {
      "d.yaml": manifest({
        container: 'lifecycle: { preStop: { exec: { command: [/bin/busybox, sleep, "4"] } } }',
      }).replace("registry.example/orders:1", "gcr.io/distroless/static"),
    },
  ],
  [
    "ports in host mode cannot start first",
    {
      "compose.yaml":
        "services:\n  a:\n    image: x/a\n    ports: [{ target: 80, published: 80, mode: host }]\n    deploy: { replicas: 1, update_config: { parallelism: 1 } }\n",
    },
  ],
  [
    "one per node in Swarm",
    {
      "compose.yaml":
        "services:\n  a:\n    image: x/a\n    ports: ['80:80']\n    deploy: { mode: global, update_config: { parallelism: 1 } }\n",
    },
  ],
  [
    "sessions outlive sshd, and storage is not killed",
    {
      "a.service": "[Service]\nExecStart=/usr/sbin/sshd -D\nKillMode=process\n",
      "b.service": "[Service]\nExecStart=/usr/sbin/mariadbd\nSendSIGKILL=no\n",
    },
  ],
  [
    "a backup server is checked by tracking another",
    {
      "haproxy.cfg":
        "defaults\n  mode http\n  option redispatch\nbackend a\n  option httpchk GET /readyz\n  server a 10.0.0.1:80 check\n  server b 10.0.0.2:80 track a/a\n",
    },
  ],
  [
    "TCP services have no path to ask",
    { "haproxy.cfg": "listen a\n  mode tcp\n  server a 10.0.0.1:80 check\n  server b 10.0.0.2:80 check\n" },
  ],
  [
    "one-shot commands end by themselves",
    {
      "compose.yaml":
        "services:\n  a:\n    image: alpine\n    command: sh -c 'sleep 0.1 && echo world && /bin/false'\n",
    },
  ],
  [
    "Windows has other signals",
    { Dockerfile: "FROM mcr.microsoft.com/windows/servercore:ltsc2022\nCMD powershell -File run.ps1\n" },
  ],
  [
    "oneshot units end by themselves",
    { "a.service": "[Service]\nType=oneshot\nExecStart=/usr/bin/job\nKillMode=process\n" },
  ],
];

for (const [title, files] of DELIBERATE) {
  test(`deliberate: ${title}`, () => {
    assert.deepEqual(
      brief(files).filter((line) => !line.startsWith("info ")),
      [],
    );
  });
}
