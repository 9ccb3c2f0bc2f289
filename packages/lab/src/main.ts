/** The command `lastcall`: picks a command from a table and sets the exit code. */

import { isatty } from "node:tty";
import type { Command, Io } from "./commands/command.ts";
import { LAB_CODES, LabError } from "./errors.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";

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
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => interrupt.abort(signal));
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

async function main(argv: readonly string[]): Promise<ExitCode> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    io.out(await help());
    return name === undefined ? EXIT.usage : EXIT.pass;
  }
  const load = COMMANDS[name];
  if (load === undefined) {
    throw new LabError("LAB_USAGE", `lastcall has no command '${name}'.`, "Run `lastcall --help`.");
  }
  return (await load()).run(rest, io);
}

try {
  process.exitCode = await main(process.argv.slice(2));
  if (process.exitCode === EXIT.interrupted) {
    // The command has put everything away; what it was in the middle of would only keep the terminal.
    process.exit();
  }
} catch (error) {
  if (!(error instanceof LabError)) {
    throw error;
  }
  io.err(`lastcall: ${error.message}\n${error.next} [${error.code}]\n`);
  process.exitCode = LAB_CODES[error.code];
}
