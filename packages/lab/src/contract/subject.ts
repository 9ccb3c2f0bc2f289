/**
 * The service under judgement, described as data: how to start it, which routes do what, how its times are set, what it
 * prints. A judge knows nothing else about it, so that any service in any language can stand here.
 */

/** What a clause sets for its own run. Times are milliseconds in a judge; the subject says how they are written. */
export type Duration =
  | "gracePeriod"
  | "drainDelay"
  | "gracefulTimeout"
  | "teardownTimeout"
  | "taskTimeout"
  | "linger"
  | "abortWindow";
export type Choice =
  | "announce"
  | "leaveOrder"
  | "admission"
  | "boundary"
  | "readinessInLameDuck"
  | "exitPolicy"
  | "recordFile";
export type Setting = Duration | Choice;

/** Where a setting goes: an environment variable, and how a duration is written there. Default: `250ms`. */
export interface Way {
  readonly env: string;
  readonly as?: "250ms" | "250" | "0.25" | "0.25s";
}

/** `GET /path`, with `{seconds}`, `{id}` or `{bytes}` where the judge puts a value. */
export type Route = `${"GET" | "POST" | "PUT"} /${string}`;

export interface Routes {
  readonly live?: Route;
  readonly ready?: Route;
  /** Answers 200 at once; where it holds `{id}` its body holds the id as well. */
  readonly ordinary?: Route;
  /** Answers 200 after `{seconds}`, with nothing sent before. */
  readonly slow?: Route;
  /** The same, run so that its handler counts until it has settled (boundary `handler`); prints `says.handlerDone`. */
  readonly outlives?: Route;
  /** Sends its head and a first chunk at once, then chunks for `{seconds}`, no length promised. */
  readonly stream?: Route;
  /** Reads its whole body, then answers 200 with the number of bytes in the body. */
  readonly upload?: Route;
  /** Answers `{bytes}` of anything. */
  readonly bulk?: Route;
  /** Answers 202 at once, then runs tracked work for `{seconds}` that has the fate in the name. */
  readonly task?: Route;
  readonly abortableTask?: Route;
  readonly abandonedTask?: Route;
  /** Answers 202 when the work is stored under the key `{id}`; what the deadline leaves undone is the next process's. */
  readonly handoffTask?: Route;
  /** Never answers; prints `says.aborted` when it is told to stop, then throws an error with the text of its id. */
  readonly abortable?: Route;
  /** Answers 200 and sets `Connection: keep-alive` itself; `{shape}` counts from 0 over the ways to do so. */
  readonly stubborn?: Route;
  /** Blocks the event loop in the language itself for `{seconds}`. */
  readonly spin?: Route;
  /** The same in native code, where no debugger can break in. */
  readonly native?: Route;
  /** Throws an uncaught error outside of any handler, soon. */
  readonly crash?: Route;
  /** The app ends the process itself with exit code 7, at once. */
  readonly exit?: Route;
  /** Server-sent events without an end: a first one at once, others every now and then. The service ends them at t0. */
  readonly events?: Route;
  /** The same, ended when the gate closes. */
  readonly eventsToGate?: Route;
  /** The same, ended shortly before the deadline. */
  readonly eventsToDeadline?: Route;
  /** Takes WebSockets. */
  readonly websocket?: Route;
  /** Answers 101 to `Upgrade: lastcall-echo`, then sends back every byte. */
  readonly tunnel?: Route;
  /** A gRPC method, `POST /package.Service/Method`, that answers OK to an empty message after about a second. */
  readonly grpcUnary?: Route;
  /** The same with a stream of messages for about a second. */
  readonly grpcStream?: Route;
}

/** Lines that the service prints, on either stream, with `{id}` or `{name}` where a name stands. */
export interface Sayings {
  /** An `ordinary` or `slow` request has been run. */
  readonly ran?: string;
  readonly handlerDone?: string;
  readonly aborted?: string;
  readonly taskDone?: string;
  readonly taskAborted?: string;
  /** A teardown hook has begun. In the default mode the hooks are `first`, `second`, `third`, in the order of opening. */
  readonly teardown?: string;
}

/** A way to start the service that plants one circumstance: environment variables on top of the others. */
export type Mode = Readonly<Record<string, string>>;

export interface Modes {
  /** Over TLS, with any certificate. */
  readonly tls?: Mode;
  /** Speaks HTTP/2 on its port, without TLS and without an upgrade. Empty where it does anyway. */
  readonly h2c?: Mode;
  /** Speaks HTTP/2 on its port, over TLS. */
  readonly h2?: Mode;
  /** The second of three teardown hooks never settles. */
  readonly hookHangs?: Mode;
  /** The second of three teardown hooks fails. */
  readonly hookFails?: Mode;
  /** The teardown hook `second` takes 400 ms. */
  readonly hookSlow?: Mode;
  /** The teardown hook `second` opens another resource, `late`. */
  readonly hookLate?: Mode;
  /** The teardown hook `second` writes a megabyte of lines to stderr. */
  readonly hookTalks?: Mode;
  /** Prints `starting`, then takes 5 s before it listens; its hook `first` is registered before. */
  readonly slowStart?: Mode;
  /** Listens and announces itself, and never says that it is ready. */
  readonly neverReady?: Mode;
  /** `Date` jumps an hour ahead and back during the shutdown. */
  readonly clockJumps?: Mode;
  /** Two copies of the library in one process, a hook with each. */
  readonly twoCopies?: Mode;
  /** A second copy of another major version: must not start. */
  readonly twoMajors?: Mode;
  /** Listens on a socket that it inherits as descriptor 3. */
  readonly inherited?: Mode;
  /** Serves by worker processes or threads of one primary. */
  readonly cluster?: Mode;
  /** Speaks to NOTIFY_SOCKET, which is set, as a unit of Type=notify does. */
  readonly systemd?: Mode;
  /** The app has a stop handler of its own as well. */
  readonly foreignHandler?: Mode;
  /** That handler would exit at once, and the service promises to hold it back. */
  readonly foreignExit?: Mode;
}

export interface Subject {
  readonly name: string;
  /** The command and its arguments, which may hold `{port}`. PORT is set as well. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /**
   * Whether it prints a line of JSON on stdout when it serves: `{"listening":true,"port":1,"adminPort":2}`. Otherwise
   * the lab finds a free port and asks readiness (or the ordinary route) until it is answered.
   */
  readonly announces: boolean;
  readonly tls: boolean;
  readonly stopSignal: NodeJS.Signals;
  readonly routes: Routes;
  readonly settings: Readonly<Partial<Record<Setting, Way>>>;
  readonly says: Sayings;
  readonly modes: Modes;
  /** Where to listen when it has further doors: the variables that name them. */
  readonly adminPort?: { readonly env: string };
  readonly unixSocket?: { readonly env: string };
  /** A further port for HTTP/2 without TLS. */
  readonly http2Port?: { readonly env: string };
  /** The variable that names where work is handed to the next process: a path that does not exist yet. */
  readonly handoffStore?: { readonly env: string };
  /** Whether it writes a record (docs/record.md) at the end. */
  readonly record: boolean;
  /** Its drain delay, where it cannot be set: clauses that need another one are not judged. */
  readonly fixedDrainDelayMs?: number;
  /** Who ends its copies when the lab itself is ended. */
  readonly guardian?: {
    readonly mark: Readonly<Record<string, string>>;
    watch(pid: number): void;
    release(pid: number): void;
  };
  /** The exit codes that it documents. */
  readonly exitCodes: { readonly clean: number; readonly incomplete: number };
}

/** How a service built on the library is told its times and choices. */
export const LASTCALL_SETTINGS: Readonly<Record<Setting, Way>> = {
  gracePeriod: { env: "LASTCALL_GRACE_PERIOD" },
  drainDelay: { env: "LASTCALL_DRAIN_DELAY" },
  gracefulTimeout: { env: "LASTCALL_GRACEFUL_TIMEOUT" },
  teardownTimeout: { env: "LASTCALL_TEARDOWN_TIMEOUT" },
  taskTimeout: { env: "LASTCALL_TASK_TIMEOUT" },
  linger: { env: "LASTCALL_LINGER" },
  abortWindow: { env: "LASTCALL_ABORT_WINDOW" },
  announce: { env: "LASTCALL_ANNOUNCE" },
  leaveOrder: { env: "LASTCALL_LEAVE_ORDER" },
  admission: { env: "LASTCALL_ADMISSION" },
  boundary: { env: "LASTCALL_BOUNDARY" },
  readinessInLameDuck: { env: "LASTCALL_READINESS_IN_LAME_DUCK" },
  exitPolicy: { env: "LASTCALL_EXIT_POLICY" },
  recordFile: { env: "LASTCALL_RECORD_FILE" },
};

/** A setting as the service wants to read it. */
export function writeSetting(way: Way, value: number | string): string {
  if (typeof value === "string") {
    return value;
  }
  switch (way.as ?? "250ms") {
    case "250":
      return String(value);
    case "0.25":
      return String(value / 1000);
    case "0.25s":
      return `${value / 1000}s`;
    default:
      return `${value}ms`;
  }
}

/** Puts values into the braces of a template; a brace without a value stays. */
export function fill(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (brace, name: string) => String(values[name] ?? brace));
}
