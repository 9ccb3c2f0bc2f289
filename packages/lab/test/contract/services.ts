/** The services that the contract's tests judge: the library's own, and the naive one that must be found out. */

import { fileURLToPath } from "node:url";
import { LASTCALL_SETTINGS, type Setting, type Subject } from "../../src/contract/subject.ts";

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/${name}.js`, import.meta.url));

/** The library's service, every door and circumstance named. */
export const service: Subject = {
  name: "the contract service",
  command: [process.execPath, fixture("contract-service")],
  env: { LASTCALL_LOG: "text" },
  announces: true,
  tls: false,
  stopSignal: "SIGTERM",
  routes: {
    live: "GET /livez",
    ready: "GET /readyz",
    ordinary: "GET /ordinary?id={id}",
    slow: "GET /slow?seconds={seconds}&id={id}",
    outlives: "GET /outlives?seconds={seconds}&id={id}",
    stream: "GET /stream?seconds={seconds}",
    upload: "POST /upload",
    bulk: "GET /bulk?bytes={bytes}",
    task: "POST /task?seconds={seconds}&id={id}",
    abandonedTask: "POST /task?seconds={seconds}&id={id}",
    abortableTask: "POST /task/abort?seconds={seconds}&id={id}",
    abortable: "GET /abortable?id={id}",
    stubborn: "GET /stubborn?shape={shape}",
    spin: "GET /spin?seconds={seconds}",
    native: "GET /native?seconds={seconds}",
    crash: "GET /crash",
    exit: "GET /exit",
    events: "GET /events",
    eventsToGate: "GET /events/gate",
    eventsToDeadline: "GET /events/deadline",
    websocket: "GET /ws",
    tunnel: "GET /tunnel",
    grpcUnary: "POST /test.Texts/Unary",
    grpcStream: "POST /test.Texts/List",
  },
  settings: LASTCALL_SETTINGS,
  says: {
    ran: "ran {id}",
    handlerDone: "handler {id} done",
    aborted: "aborted {id}",
    taskDone: "task {id} done",
    taskAborted: "task {id} aborted",
    teardown: "teardown {name}",
  },
  modes: {
    tls: { TLS: "1" },
    h2c: { HTTP2: "h2c" },
    h2: { HTTP2: "h2" },
    hookHangs: { HOOK: "hangs" },
    hookFails: { HOOK: "fails" },
    hookSlow: { HOOK: "slow" },
    hookLate: { HOOK: "late" },
    hookTalks: { HOOK: "talks" },
    slowStart: { START_DELAY: "5000" },
    neverReady: { NEVER_READY: "1" },
    clockJumps: { CLOCK_JUMPS: "1" },
    twoCopies: { COPIES: "two" },
    twoMajors: { COPIES: "majors" },
    inherited: { LISTEN_FD: "3" },
    systemd: {},
    foreignHandler: { FOREIGN: "listens" },
  },
  adminPort: { env: "LASTCALL_ADMIN_PORT" },
  unixSocket: { env: "UNIX_SOCKET" },
  record: true,
  exitCodes: { clean: 0, incomplete: 3 },
};

/** The naive service with one fault. It is described as if it could do everything, so that each judge looks at it. */
export function naive(
  breach: "close" | "exit" | "polls" | "holds" | "cuts cleanly" | "delays" | "is impatient" | "raises",
): Subject {
  return {
    ...service,
    name: `the naive service (${breach})`,
    command: [process.execPath, fixture("naive-service")],
    env: { BREACH: breach },
  };
}

/** The service with one variable turned so that one promise is broken; what is told to `deaf` settings does not arrive. */
export function planted(env: Readonly<Record<string, string>>, deaf: readonly Setting[] = []): Subject {
  const settings = { ...service.settings };
  for (const setting of deaf) {
    settings[setting] = { env: "NOBODY_READS_THIS" };
  }
  return {
    ...service,
    name: `the contract service with ${JSON.stringify(env)}${deaf.map((setting) => `, deaf to ${setting}`).join("")}`,
    env: { ...service.env, ...env },
    settings,
  };
}

/** The naive service that exits at the signal, with auto mode loaded: its handler is held. */
export const autoService: Subject = {
  ...naive("exit"),
  name: "a service that exits at the signal, in auto mode",
  env: { BREACH: "exit", NODE_OPTIONS: `--import=${import.meta.resolve("lastcall/auto")}` },
  modes: { foreignHandler: {}, foreignExit: {} },
};

/** The service in two workers of one primary. */
export function clustered(breach = ""): Subject {
  return {
    ...service,
    name: `the contract service in two workers${breach === "" ? "" : ` (${breach})`}`,
    command: [process.execPath, fixture("contract-cluster")],
    env: { ...service.env, BREACH: breach },
    modes: { cluster: {} },
  };
}

/** Work that is handed to the next process, by a store of its own: the library has none. */
export function handsOff(breach = ""): Subject {
  return {
    ...service,
    name: `the service that hands off${breach === "" ? "" : ` (${breach})`}`,
    command: [process.execPath, fixture("hands-off")],
    env: { BREACH: breach },
    routes: { ordinary: "GET /", handoffTask: "POST /handoff?id={id}&seconds={seconds}" },
    says: { taskDone: "task {id} done" },
    handoffStore: { env: "STORE" },
  };
}
