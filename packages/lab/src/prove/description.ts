/**
 * The description of a service for `lastcall prove`, as a person writes it: the key `prove` of lastcall.config.json, and
 * flags over it. One table of names serves the check, the messages and the published schema.
 */

import { LASTCALL_SETTINGS, type Route, type Subject, type Way } from "../contract/subject.ts";
import { parseDuration } from "../duration.ts";
import { LabError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";

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

type Json = Readonly<Record<string, unknown>>;

function refuse(message: string, next: string): never {
  throw new LabError("LAB_CONFIG", message, next);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at `key`, with each of its names known. */
function group(config: Json, key: string, known: Readonly<Record<string, string>>): Json {
  const value = config[key] ?? {};
  if (!isObject(value)) {
    return refuse(
      `prove.${key} is ${JSON.stringify(value)}.`,
      `It takes an object: ${KEY_NAMES[key] ?? ""}.`,
    );
  }
  for (const name of Object.keys(value)) {
    if (known[name] === undefined) {
      const names = Object.keys(known);
      refuse(`There is no prove.${key}.${name}.`, `${didYouMean(name, names)}Known are ${names.join(", ")}.`);
    }
  }
  return value;
}

function routes(config: Json): Subject["routes"] {
  const given = group(config, "routes", ROUTE_NAMES);
  for (const [name, route] of Object.entries(given)) {
    if (typeof route !== "string" || !/^(?:GET|POST|PUT) \/\S*$/.test(route)) {
      refuse(
        `prove.routes.${name} is ${JSON.stringify(route)}.`,
        `A route is written GET /path: ${ROUTE_NAMES[name as keyof typeof ROUTE_NAMES]}.`,
      );
    }
  }
  return given;
}

/** What a judge must be able to say to a route: without it each request would be the same. */
const MUST_HOLD: Readonly<Partial<Record<keyof Subject["routes"], string>>> = {
  slow: "seconds",
  outlives: "seconds",
  stream: "seconds",
  task: "seconds",
  abortableTask: "seconds",
  abandonedTask: "seconds",
  handoffTask: "seconds",
  spin: "seconds",
  native: "seconds",
  bulk: "bytes",
  stubborn: "shape",
};
const ROUTE_BRACES = ["id", "seconds", "bytes", "shape"];

/** Routes from the file and from flags alike: every brace is one that is filled in, and what is needed is there. */
function checkBraces(given: Subject["routes"]): void {
  for (const [name, route] of Object.entries(given)) {
    for (const [, brace = ""] of route.matchAll(/\{([^}]*)\}/g)) {
      if (!ROUTE_BRACES.includes(brace)) {
        refuse(
          `The ${name} route ${route} holds {${brace}}, which nobody fills in.`,
          `${didYouMean(brace, ROUTE_BRACES)}Known are ${ROUTE_BRACES.map((known) => `{${known}}`).join(", ")}.`,
        );
      }
    }
    const must = MUST_HOLD[name as keyof Subject["routes"]];
    if (must !== undefined && !route.includes(`{${must}}`)) {
      refuse(
        `The ${name} route ${route} has no place for {${must}}.`,
        `Write it where the route takes it, such as ${route}${route.includes("?") ? "&" : "?"}${must}={${must}}: ${ROUTE_NAMES[name as keyof typeof ROUTE_NAMES]}.`,
      );
    }
  }
}

function settings(config: Json): Subject["settings"] {
  const given = group(config, "settings", SETTING_NAMES);
  for (const [name, way] of Object.entries(given)) {
    const as = isObject(way) ? way["as"] : undefined;
    if (
      !isObject(way) ||
      typeof way["env"] !== "string" ||
      (as !== undefined && !DURATION_FORMS.includes(as as "250"))
    ) {
      refuse(
        `prove.settings.${name} is ${JSON.stringify(way)}.`,
        `It takes {"env": "NAME", "as": one of ${DURATION_FORMS.join(", ")}}.`,
      );
    }
  }
  return given;
}

function texts(
  config: Json,
  key: string,
  known: Readonly<Record<string, string>> | null,
): Readonly<Record<string, string>> {
  const given = known === null ? (config[key] ?? {}) : group(config, key, known);
  if (!isObject(given) || !Object.values(given).every((value) => typeof value === "string")) {
    return refuse(`prove.${key} is ${JSON.stringify(given)}.`, "It takes an object of texts.");
  }
  return given as Readonly<Record<string, string>>;
}

function door(
  config: Json,
  key: "adminPort" | "unixSocket" | "http2Port" | "handoffStore",
): { readonly env: string } | undefined {
  const value = config[key];
  if (value === undefined) {
    return undefined;
  }
  return isObject(value) && typeof value["env"] === "string"
    ? { env: value["env"] }
    : refuse(`prove.${key} is ${JSON.stringify(value)}.`, 'It takes {"env": "NAME"}.');
}

function flag(config: Json, key: string): boolean {
  const value = config[key] ?? false;
  return typeof value === "boolean"
    ? value
    : refuse(`prove.${key} is ${JSON.stringify(value)}.`, "It takes true or false.");
}

function exitCodes(config: Json): Subject["exitCodes"] {
  const given = group(config, "exitCodes", { clean: "", incomplete: "" });
  const code = (name: string, otherwise: number): number => {
    const value = given[name] ?? otherwise;
    return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255
      ? Number(value)
      : refuse(
          `prove.exitCodes.${name} is ${JSON.stringify(value)}.`,
          "An exit code is a whole number from 0 to 255.",
        );
  };
  return { clean: code("clean", 0), incomplete: code("incomplete", 3) };
}

function modes(config: Json): Subject["modes"] {
  const given = group(config, "modes", MODE_NAMES);
  return Object.fromEntries(Object.keys(given).map((name) => [name, texts(given, name, null)]));
}

/** A command as a name: one line, not longer than a person reads. */
function shortened(command: string): string {
  const line = command.replaceAll(/\s+/g, " ").trim();
  return line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME)}…` : line;
}

const LONGEST_NAME = 72;

/** What a process can handle, and a platform sends. */
const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH"];

/** Checks what was written and makes the subject of it. Command, routes and drain delay from the flags win. */
export function describeSubject(
  config: Json,
  command: readonly string[] | undefined,
  flags: Subject["routes"],
  drainDelay?: string,
): Subject {
  for (const name of Object.keys(config)) {
    if (KEY_NAMES[name] === undefined) {
      const names = Object.keys(KEY_NAMES);
      refuse(`There is no prove.${name}.`, `${didYouMean(name, names)}Known are ${names.join(", ")}.`);
    }
  }
  const started = command ?? config["command"];
  if (!Array.isArray(started) || started.length === 0 || !started.every((part) => typeof part === "string")) {
    throw new LabError(
      "LAB_USAGE",
      "lastcall prove needs a command to run.",
      "Put it behind --, or under prove.command as a list: lastcall prove -- node app.js",
    );
  }
  const library = config["library"];
  if (library !== undefined && library !== "lastcall") {
    refuse(
      `prove.library is ${JSON.stringify(library)}.`,
      "Only lastcall is known; describe others by settings.",
    );
  }
  const known = library === "lastcall";
  const stopSignal = config["stopSignal"] ?? "SIGTERM";
  if (typeof stopSignal !== "string" || !STOP_SIGNALS.includes(stopSignal)) {
    refuse(
      `prove.stopSignal is ${JSON.stringify(stopSignal)}.`,
      `Stop signals are ${STOP_SIGNALS.join(", ")}.`,
    );
  }
  const name = config["name"] ?? shortened(started.join(" "));
  if (typeof name !== "string") {
    return refuse(`prove.name is ${JSON.stringify(name)}.`, "It takes a text.");
  }
  const asked: Subject["routes"] = { ordinary: "GET /", ...routes(config), ...flags };
  checkBraces(asked);
  const set = settings(config);
  const fixed =
    known || set.drainDelay !== undefined ? undefined : fixedDrainDelay(drainDelay ?? config["drainDelay"]);
  const adminPort = door(config, "adminPort") ?? (known ? { env: "LASTCALL_ADMIN_PORT" } : undefined);
  const unixSocket = door(config, "unixSocket");
  const http2Port = door(config, "http2Port");
  const handoffStore = door(config, "handoffStore");
  return {
    name,
    command: started,
    env: texts(config, "env", null),
    announces: flag(config, "announces"),
    tls: flag(config, "tls"),
    stopSignal: stopSignal as NodeJS.Signals,
    routes: asked,
    settings: { ...(known ? LASTCALL_SETTINGS : {}), ...set },
    says: texts(config, "says", SAYING_NAMES),
    modes: modes(config),
    ...(adminPort === undefined ? {} : { adminPort }),
    ...(unixSocket === undefined ? {} : { unixSocket }),
    ...(http2Port === undefined ? {} : { http2Port }),
    ...(handoffStore === undefined ? {} : { handoffStore }),
    ...(fixed === undefined ? {} : { fixedDrainDelayMs: fixed }),
    record: known || flag(config, "record"),
    exitCodes: exitCodes(config),
  };
}

const LONGEST_DELAY_MS = 120_000;

/** Most services have none: they close at the signal. */
function fixedDrainDelay(given: unknown): number {
  const parsed = typeof given === "string" ? parseDuration(given) : given === undefined ? 0 : null;
  if (parsed === null || parsed > LONGEST_DELAY_MS) {
    return refuse(
      `The drain delay is ${JSON.stringify(given)}.`,
      "Write a duration such as 0, 500ms or 5s; prove waits it out, so 2m at most.",
    );
  }
  return parsed;
}

/** `GET /path` of a flag that gives a path alone. */
export function routeOf(method: "GET" | "POST", path: string, flagName: string): Route {
  if (!path.startsWith("/")) {
    throw new LabError(
      "LAB_OPTION",
      `--${flagName} is '${path}'.`,
      `A path begins with /: --${flagName} /${path}`,
    );
  }
  return `${method} ${path as `/${string}`}`;
}
