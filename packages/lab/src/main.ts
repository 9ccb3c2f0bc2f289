/** The command `lastcall`: picks a command from a table and sets the exit code. */

import { readFileSync } from "node:fs";
import { isatty } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import type { Command, Io } from "./commands/command.ts";
import { LAB_CODES, LabError } from "./errors.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { didYouMean } from "./nearest.ts";
import { unforeseen } from "./unforeseen.ts";

/** Each command is loaded only when it is asked for. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  budget: async () => (await import("./commands/budget.ts")).budgetCommand,
  check: async () => (await import("./commands/check.ts")).checkCommand,
  completion: async () => (await import("./commands/completion.ts")).completionCommand,
  lab: async () => (await import("./commands/lab.ts")).labCommand,
  lag: async () => (await import("./commands/lag.ts")).lagCommand,
  lint: async () => (await import("./commands/lint.ts")).lintCommand,
  prove: async () => (await import("./commands/prove.ts")).proveCommand,
  report: async () => (await import("./commands/report.ts")).reportCommand,
  rollout: async () => (await import("./commands/rollout.ts")).rollout,
};

const interrupt = new AbortController();
const INTERRUPTS = ["SIGINT", "SIGTERM"] as const;
const onInterrupt = (signal: NodeJS.Signals): void => interrupt.abort(signal);
for (const signal of INTERRUPTS) {
  process.once(signal, onInterrupt);
}

const io: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  tty: isatty(2),
  columns: () => process.stderr.columns ?? 80,
  env: process.env,
  cwd: process.cwd(),
  interrupted: interrupt.signal,
};

async function help(): Promise<string> {
  const lines = ["Usage: lastcall COMMAND [options]", "", "Commands:"];
  for (const [name, load] of Object.entries(COMMANDS)) {
    // One after the other, so that the list keeps the order of the table.
    lines.push(`  ${name.padEnd(10)} ${(await load()).summary}`);
  }
  return `${lines.join("\n")}\n\nlastcall COMMAND --help says more.\n`;
}

/** `help NAME` and `NAME -h` are what some type for `NAME --help`. */
function spelled(argv: readonly string[]): readonly string[] {
  const [first = "", second] = argv;
  if (first === "help" && second !== undefined) {
    return [second, "--help"];
  }
  return second === "-h" ? [first, "--help"] : argv;
}

async function main(argv: readonly string[]): Promise<ExitCode> {
  const [name, ...rest] = spelled(argv);
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    io.out(await help());
    return name === undefined ? EXIT.usage : EXIT.pass;
  }
  if (name === "--version" || name === "-v" || name === "-V" || name === "version") {
    io.out(`${version()}\n`);
    return EXIT.pass;
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    throw new LabError(
      "LAB_USAGE",
      `lastcall has no command '${name}'.`,
      `${didYouMean(name, Object.keys(COMMANDS))}Run \`lastcall --help\`.`,
    );
  }
  const command = await load();
  if (interrupt.signal.aborted) {
    return EXIT.interrupted; // Before a command listens, which would wait for a signal that has been.
  }
  if (command.endsAtOnce === true) {
    for (const signal of INTERRUPTS) {
      process.removeListener(signal, onInterrupt);
    }
  }
  return command.run(rest, io);
}

function version(): string {
  const file = new URL("../../package.json", import.meta.url);
  return String((JSON.parse(readFileSync(file, "utf8")) as { version: unknown }).version);
}

/** A message may quote any file: what would set colours, ring or move the cursor is shown as a sign for it. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return stripVTControlCharacters(text).replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, "\uFFFD");
}

/** Says it, and returns the exit code. */
function tell(error: unknown): ExitCode {
  const known = unforeseen(error);
  io.err(`${printable(`lastcall: ${known.message}\n${known.next} [${known.code}]`)}\n`);
  if (known !== error && process.env["LASTCALL_DEBUG"] !== undefined) {
    io.err(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  }
  return LAB_CODES[known.code];
}

/** A reader that has gone (`| head`) wants no more: the run goes on, and its exit code is what it would have been. */
function watchOutput(): void {
  let lost = false;
  process.stderr.on("error", () => undefined); // Nobody is left to be told.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && !lost) {
      lost = true;
      tell(
        new LabError(
          "LAB_OUTPUT",
          `Standard output cannot be written: ${error.message}.`,
          "Free some space there, or send it somewhere else.",
          { cause: error },
        ),
      );
    }
  });
  process.once("exit", (code) => {
    if (lost && (code === EXIT.pass || code === EXIT.failed)) {
      process.exitCode = LAB_CODES.LAB_OUTPUT;
    }
  });
}

watchOutput();
// What is thrown outside of a command's own await; the guardians' exit hooks end what was started.
process.on("uncaughtException", (error) => process.exit(tell(error)));

try {
  process.exitCode = await main(process.argv.slice(2));
  if (process.exitCode === EXIT.interrupted) {
    // The command has put everything away; what it was in the middle of would only keep the terminal.
    process.exit();
  }
} catch (error) {
  process.exitCode = tell(error);
}
