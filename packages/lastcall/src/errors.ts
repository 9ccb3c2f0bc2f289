/** One class and one table: every error of the library has a stable code, and users match on the code. */

/** Each code with what to do next. `docs/errors.md` has a heading for each. */
const NEXT_STEPS = {
  LASTCALL_OPTION: "Correct the option; docs/options.md lists every one with its range.",
  LASTCALL_ENVIRONMENT: "Correct or unset the environment variable; durations are written 250ms, 5s or 1m.",
  LASTCALL_BUDGET: "Shorten a part, or raise the grace period here and on the platform together.",
  LASTCALL_OPTIONS_DIFFER: "Give every option to the first createLifecycle() of the process.",
  LASTCALL_VERSIONS:
    "Keep one major version of lastcall in the process: `npm ls lastcall` shows who brings which.",
  LASTCALL_SERVER: "Give life.http() a server of node:http, node:https or node:http2.",
  LASTCALL_ADMIN_PORT: "Free the port, choose another one, or unset adminPort.",
  LASTCALL_STOPPING: "Register work before teardown begins; life.signal tells when the stop has begun.",
  LASTCALL_LISTEN_FDS: "The app starts and listens as it says itself; correct the unit, or unset LISTEN_FDS.",
  LASTCALL_TAKEOVER_SCRIPT:
    "Write `lastcall-takeover [--ready-timeout 30s] [NODE OPTIONS] app.js [ARGUMENTS]`.",
  LASTCALL_TAKEOVER_START: "Its own output says why; `node app.js` shows it alone.",
  LASTCALL_TAKEOVER_READY:
    "A copy is ready when its first HTTP server listens, or when it calls life.ready() or process.send('ready'); --ready-timeout gives it longer.",
  LASTCALL_TAKEOVER_PORT:
    "Stop whoever listens there: a copy that was started without lastcall-takeover, most likely.",
  LASTCALL_WRAPPER: "LASTCALL_LOG=none silences this together with the other lines.",
  LASTCALL_ZOMBIES: "Put an init in front (`docker run --init`, `init: true`, tini), which reaps them.",
  LASTCALL_RUNTIME: "docs/processes.md says what works on Bun and Deno; Node 20 and later have all of it.",
  LASTCALL_REUSE_PORT:
    "Set net.ipv4.tcp_migrate_req=1, or share the port by node:cluster or lastcall/takeover instead.",
} as const satisfies Readonly<Record<string, string>>;

export type LastcallErrorCode =
  | "LASTCALL_OPTION"
  | "LASTCALL_ENVIRONMENT"
  | "LASTCALL_BUDGET"
  | "LASTCALL_OPTIONS_DIFFER"
  | "LASTCALL_VERSIONS"
  | "LASTCALL_SERVER"
  | "LASTCALL_ADMIN_PORT"
  | "LASTCALL_STOPPING"
  | "LASTCALL_LISTEN_FDS"
  | "LASTCALL_TAKEOVER_SCRIPT"
  | "LASTCALL_TAKEOVER_START"
  | "LASTCALL_TAKEOVER_READY"
  | "LASTCALL_TAKEOVER_PORT"
  | "LASTCALL_WRAPPER"
  | "LASTCALL_ZOMBIES"
  | "LASTCALL_REUSE_PORT"
  | "LASTCALL_RUNTIME";

/** Compiles only while the table and the union name the same codes. */
const NEXT: Readonly<Record<LastcallErrorCode, string>> = NEXT_STEPS;

/** The codes, for the test that compares them with the documentation. */
export const ERROR_CODES: readonly LastcallErrorCode[] = Object.keys(NEXT) as LastcallErrorCode[];

/** Every error that the library throws itself. The message ends with the next step. */
export class LastcallError extends Error {
  override readonly name = "LastcallError";
  /** Stable; removing or renaming one is a breaking change. */
  readonly code: LastcallErrorCode;

  constructor(code: LastcallErrorCode, what: string, options?: { readonly cause?: unknown }) {
    super(`${what} ${NEXT[code]} [${code}]`, options);
    this.code = code;
  }
}
