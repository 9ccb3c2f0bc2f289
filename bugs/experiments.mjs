// Bugs in the experiments, in what is said of a router, and on the platforms.
const src = (name) => `packages/lab/src/${name}.ts`;

export const EXPERIMENT_BUGS = [
  {
    name: "what-cannot-be-told-counts-as-shown",
    file: src("experiments/judgement"),
    find: `checks.filter(({ holds }) => holds === null);`,
    replace: `checks.filter(() => false);`,
    tests: ["lab/experiments/judges"],
  },
  {
    name: "a-wrong-time-is-always-the-machine",
    file: src("experiments/judgement"),
    find: `holds || lateMs <= LATE_LIMIT_MS`,
    replace: `holds`,
    tests: ["lab/experiments/judges"],
  },
  {
    name: "a-drain-without-a-record-has-nothing-unfinished",
    file: src("experiments/drain"),
    find: `done.record?.requests.unfinished === 0`,
    replace: `(done.record?.requests.unfinished ?? 0) >= 0`,
    tests: ["lab/experiments/judges"],
  },
  {
    name: "the-routers-lag-ends-with-the-first-loss",
    file: src("lag/findings"),
    find: `lost.map(([look]) => look.sentMs).findLast(within);`,
    replace: `lost.map(([look]) => look.sentMs).find(within);`,
    tests: ["lab/lag/findings"],
  },
  {
    name: "a-refused-connection-is-a-cut",
    file: src("lag/findings"),
    find: `connectMs !== null ? "cut"`,
    replace: `connectMs === null ? "cut"`,
    tests: ["lab/lag/findings"],
  },
  {
    name: "start-first-is-kept-when-the-new-task-has-started",
    file: src("platform/update-order"),
    find: `const upMs = replacement.readyMs ?? null;`,
    replace: `const upMs: number | null = replacement.startedMs;`,
    tests: ["lab/platform/update-order"],
  },
  {
    name: "a-killed-task-left-with-its-exit-code",
    file: src("platform/swarm-tasks"),
    find: `task.killed = true;`,
    replace: `task.killed = false;`,
    tests: ["lab/platform/swarm-tasks"],
  },
  {
    name: "a-drained-node-stays-drained",
    file: src("platform/swarm"),
    find: `"--availability", "active", drainNode`,
    replace: `"--availability", "drain", drainNode`,
    tests: ["lab/platform/absent"],
  },
  {
    name: "the-copies-of-a-compose-file-share-its-ports",
    file: src("platform/compose-file"),
    find: "ports: [`${host}:${hostPort}:${port}`]",
    replace: "ports: own.ports",
    tests: ["lab/platform/compose-file"],
  },
  {
    name: "a-services-words-become-markdown",
    file: src("render/summary"),
    find: "return text.replaceAll(/[\\\\|<>`*_[\\]]/g, String.raw`\\$&`).replaceAll(",
    replace: "return text.replaceAll(",
    tests: ["lab/render/summary"],
  },
];
