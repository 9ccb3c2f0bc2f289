/**
 * The names that a description of a service may hold, each with what it means. One table serves the check, the messages, the
 * published schema and the docs.
 */

import type { LASTCALL_SETTINGS, Subject, Way } from "../contract/subject.ts";

type Names<T> = Readonly<Record<keyof Required<T>, string>>;

export const ROUTE_NAMES: Names<Subject["routes"]> = {
  live: "liveness; 200 from start to end",
  ready: "readiness; 200 when it wants traffic",
  ordinary: "answers 200 at once; where it holds {id} its body holds the id as well",
  slow: "answers 200 after {seconds}, with nothing sent before",
  outlives: "the same, and its handler counts until it has settled; prints says.handlerDone",
  stream: "sends its head and a first chunk at once, then chunks for {seconds}",
  upload: "reads its whole body, then answers 200 with the number of bytes",
  bulk: "answers {bytes} of anything",
  task: "answers 202 at once, then runs tracked work for {seconds}",
  abortableTask: "the same, and the work is aborted at the deadline",
  abandonedTask: "the same, and the work is abandoned at the deadline",
  handoffTask:
    "answers 202 when the work is stored under the key {id}; takes {seconds}, here or in the next process",
  abortable: "never answers; prints says.aborted when it is told to stop",
  stubborn: "sets Connection: keep-alive itself; {shape} counts the ways from 0",
  crash: "throws an uncaught error outside of any handler",
  spin: "blocks the event loop for {seconds}",
  native: "blocks it in native code, where no debugger can break in",
  exit: "the app ends the process itself with exit code 7",
  events: "server-sent events without an end; the service ends them at the stop signal",
  eventsToGate: "the same, ended when the gate closes",
  eventsToDeadline: "the same, ended shortly before the deadline",
  websocket: "takes WebSockets",
  tunnel: "answers 101 to Upgrade: lastcall-echo, then sends back every byte",
  grpcUnary: "POST /package.Service/Method; answers OK to an empty message after about a second",
  grpcStream: "the same with a stream of messages for about a second",
};

export const SETTING_NAMES: Readonly<Record<keyof typeof LASTCALL_SETTINGS, string>> = {
  gracePeriod: "what the platform allows until SIGKILL",
  drainDelay: "not ready, still serving",
  gracefulTimeout: "the limit on work in flight after the gate",
  teardownTimeout: "the limit on closing resources",
  taskTimeout: "the limit on tracked work",
  linger: "how long old connections are still served after the gate",
  abortWindow: "from the abort signal to the cut",
  announce: "all or spread",
  leaveOrder: "announce-first or listener-first",
  admission: "close or respond",
  boundary: "response or handler",
  readinessInLameDuck: "fail or keep",
  exitPolicy: "code or signal",
  recordFile: "a file that the record is appended to",
};

export const SAYING_NAMES: Names<Subject["says"]> = {
  ran: "an ordinary or slow request has been run ({id})",
  handlerDone: "a handler has settled ({id})",
  aborted: "a handler was told to stop ({id})",
  taskDone: "tracked work has finished ({id})",
  taskAborted: "tracked work was told to stop ({id})",
  teardown: "a teardown hook has begun ({name})",
};

export const MODE_NAMES: Names<Subject["modes"]> = {
  tls: "over TLS",
  h2c: "HTTP/2 on its port, without TLS; empty where it speaks it anyway",
  h2: "HTTP/2 on its port, over TLS",
  hookHangs: "the second of three teardown hooks never settles",
  hookFails: "the second of three teardown hooks fails",
  hookSlow: "the teardown hook `second` takes 400 ms",
  hookLate: "the teardown hook `second` opens another resource, `late`",
  hookTalks: "the teardown hook `second` writes a megabyte of lines to stderr",
  slowStart: "prints `starting`, then takes 5 s before it listens",
  neverReady: "listens and never says that it is ready",
  clockJumps: "Date jumps an hour ahead and back during the shutdown",
  twoCopies: "two copies of the library in one process",
  twoMajors: "a second copy of another major version",
  inherited: "listens on descriptor 3",
  cluster: "serves by worker processes or threads of one primary",
  systemd: "speaks to NOTIFY_SOCKET, which is set, as a unit of Type=notify; {} where nothing else is needed",
  foreignHandler: "the app has a stop handler of its own as well",
  foreignExit: "that handler would exit at once, and the service promises to hold it back",
};

export const DURATION_FORMS: readonly NonNullable<Way["as"]>[] = ["250ms", "250", "0.25", "0.25s"];

/** What may stand under `prove`. Everything is optional but a command, here or behind `--`. */
export const KEY_NAMES: Readonly<Record<string, string>> = {
  library: "`lastcall`: takes settings, admin port, record and exit codes from the library's own",
  name: "what reports call it",
  command: "a list: the program and its arguments, which may hold {port}; PORT is set as well",
  env: "environment variables",
  tls: "whether it speaks TLS",
  announces: 'whether it prints {"listening":true,"port":1} on stdout when it serves',
  drainDelay: "its drain delay where it cannot be set, such as 5s; 0 where settings name none",
  stopSignal: "the signal that stops it; SIGTERM",
  routes: "METHOD /path by name",
  settings: "how its times and choices are set: { env, as } by name",
  says: "lines that it prints, by name",
  modes: "environment variables that plant one circumstance, by name",
  adminPort: "{ env } of the variable that names its admin port",
  unixSocket: "{ env } of the variable that names a unix socket to listen on as well",
  http2Port: "{ env } of the variable that names a further port, for HTTP/2 without TLS",
  handoffStore: "{ env } of the variable that names where work is handed to the next process, a path",
  record: "whether it writes a record as docs/record.md says",
  exitCodes: "{ clean, incomplete } as it documents them; 0 and 3",
};
