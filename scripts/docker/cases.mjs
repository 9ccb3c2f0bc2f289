// The cases as data: how the image is started, what is done to it, and what must be seen. A control shows what happens
// without the library, or with a shell in its way; it is kept when the harm is there.

const AUTO = ["node", "--import", "lastcall/auto", "app.cjs"];
const PLAIN = ["node", "app.cjs"];
const cmd = (words) => `CMD ${JSON.stringify(words)}`;
const SHELL_FORM = `CMD ${AUTO.join(" ")}`;

/** What is asked once the stop has begun must still find a door. */
const SERVES_ON = "LASTCALL_DRAIN_DELAY=2s";

/**
 * `dockerfile`: what follows FROM. `run`: flags of docker run. `compose`: keys of the service in a compose file, instead.
 * `graceS`: of docker stop. `ask`: in flight at the stop; `meanwhile`: asked once the stop has begun. `expect`: exit code,
 * answer, and what the log must and must not have.
 */
export const CASES = [
  {
    name: "control: PID 1 without lastcall",
    dockerfile: [cmd(PLAIN)],
    graceS: 3,
    expect: { exit: 137 },
  },
  {
    name: "PID 1",
    dockerfile: [cmd(AUTO)],
    graceS: 10,
    expect: { exit: 0, answer: 200, pid: 1, lacks: /LASTCALL_WRAPPER|LASTCALL_ZOMBIES/ },
  },
  {
    name: "PID 1, STOPSIGNAL SIGINT",
    dockerfile: ["STOPSIGNAL SIGINT", cmd(AUTO)],
    graceS: 10,
    expect: { exit: 0, answer: 200, pid: 1, signal: "SIGINT" },
  },
  {
    name: "PID 1, three orphans have ended: named",
    dockerfile: [cmd(AUTO)],
    run: ["-e", "ORPHANS=3"],
    graceS: 10,
    expect: { exit: 0, answer: 200, has: /3 processes .*sleep.*LASTCALL_ZOMBIES/ },
  },
  {
    name: "--init, three orphans have ended: reaped",
    dockerfile: [cmd(AUTO)],
    run: ["--init", "-e", "ORPHANS=3"],
    graceS: 10,
    expect: { exit: 0, answer: 200, lacks: /LASTCALL_ZOMBIES/ },
  },
  {
    name: "control: --init without lastcall",
    dockerfile: [cmd(PLAIN)],
    run: ["--init"],
    graceS: 10,
    expect: { exit: 143, answer: "ECONNRESET" },
  },
  {
    name: "control: CMD in shell form (dash): said at start",
    dockerfile: [SHELL_FORM],
    graceS: 3,
    expect: { exit: 137, hasAtStart: /gets the stop signal instead.*LASTCALL_WRAPPER/ },
  },
  {
    name: "CMD exec node ... in shell form",
    dockerfile: [`CMD exec ${AUTO.join(" ")}`],
    graceS: 10,
    expect: { exit: 0, answer: 200, pid: 1, lacks: /LASTCALL_WRAPPER/ },
  },
  {
    name: "CMD in shell form, SHELL bash",
    dockerfile: ['SHELL ["/bin/bash", "-c"]', SHELL_FORM],
    graceS: 10,
    expect: { exit: 0, answer: 200, pid: 1, lacks: /LASTCALL_WRAPPER/ },
  },
  {
    name: "control: entrypoint without exec: said at start",
    dockerfile: ['ENTRYPOINT ["/app/entrypoint.sh"]', cmd(AUTO)],
    graceS: 3,
    expect: { exit: 137, hasAtStart: /entrypoint\.sh.*gets the stop signal instead.*LASTCALL_WRAPPER/ },
  },
  {
    name: "entrypoint with exec",
    dockerfile: ['ENTRYPOINT ["/app/entrypoint-exec.sh"]', cmd(AUTO)],
    graceS: 10,
    expect: { exit: 0, answer: 200, pid: 1, lacks: /LASTCALL_WRAPPER/ },
  },
  {
    name: "PID 1, blocked in JavaScript after the signal",
    dockerfile: [cmd(AUTO)],
    run: ["-e", "LASTCALL_GRACE_PERIOD=8s", "-e", SERVES_ON],
    meanwhile: "/spin",
    graceS: 15,
    expect: { exit: 3, pid: 1, blockedIn: /^spinsForever/ },
  },
  {
    name: "PID 1, blocked in native code after the signal",
    dockerfile: [cmd(AUTO)],
    run: ["-e", "LASTCALL_GRACE_PERIOD=8s", "-e", SERVES_ON],
    meanwhile: "/native",
    graceS: 15,
    expect: { exit: 139, pid: 1, blockedIn: /^native/ },
  },
  {
    name: "PID 1, heap exhausted after the signal",
    dockerfile: [cmd(["node", "--max-old-space-size=48", ...AUTO.slice(1)])],
    run: ["-e", "LASTCALL_GRACE_PERIOD=60s", "-e", SERVES_ON],
    meanwhile: "/heap",
    graceS: 60,
    expect: { exit: 3, pid: 1, blockedIn: /^heap exhausted in .*eatsMemory/ },
  },
  {
    name: "control: compose, stop_grace_period shorter than the work",
    dockerfile: [cmd(AUTO)],
    compose: { stop_grace_period: "1s", environment: { LASTCALL_GRACE_PERIOD: "20s" } },
    ask: "/stuck",
    expect: { exit: 137 },
  },
  {
    name: "compose, stop_grace_period",
    dockerfile: [cmd(AUTO)],
    compose: { stop_grace_period: "20s", environment: { LASTCALL_GRACE_PERIOD: "20s" } },
    ask: "/long",
    expect: { exit: 0, answer: 200, pid: 1 },
  },
  {
    name: "compose, stop_signal SIGUSR2",
    dockerfile: [cmd(AUTO)],
    compose: {
      stop_grace_period: "10s",
      stop_signal: "SIGUSR2",
      environment: { LASTCALL_SIGNALS: "SIGUSR2" },
    },
    expect: { exit: 0, answer: 200, pid: 1, signal: "SIGUSR2" },
  },
  {
    name: "compose, init: true",
    dockerfile: [cmd(AUTO)],
    compose: { init: true, stop_grace_period: "10s", environment: { ORPHANS: "3" } },
    expect: { exit: 0, answer: 200, lacks: /LASTCALL_ZOMBIES|LASTCALL_WRAPPER/ },
  },
];
