/** The command `lastcall-takeover app.js`: SIGHUP reloads, SIGTERM and SIGINT stop, and the exit code is the app's. */

import { parseDuration } from "./duration.ts";
import { LastcallError } from "./errors.ts";
import { nodeHost } from "./node-host.ts";
import { describeWrapper } from "./platform/wrapper.ts";
import { startTakeover, type TakeoverOptions } from "./takeover.ts";

const USAGE = `Usage: lastcall-takeover [--ready-timeout 30s] [NODE OPTIONS] app.js [ARGUMENTS]

Runs app.js with lastcall/auto and holds its listening sockets. SIGHUP starts a new copy and, when that is ready, drains the
old one; a new copy that does not become ready changes nothing. SIGTERM and SIGINT stop. The exit code is the app's.

  --ready-timeout 30s   how long a new copy may take to become ready
  NODE OPTIONS          such as --max-old-space-size=512 or --import=./telemetry.js, values after an equals sign
`;

const host = nodeHost();

function readArguments(words: readonly string[]): TakeoverOptions {
  const at = words.findIndex((word, n) => !word.startsWith("-") && words[n - 1] !== "--ready-timeout");
  const options = at === -1 ? words : words.slice(0, at);
  const script = at === -1 ? undefined : words[at];
  const nodeOptions = [...process.execArgv];
  let readyTimeoutMs: number | undefined;
  for (let n = 0; n < options.length; n += 1) {
    const [name, value] = (options[n] ?? "").split("=", 2);
    if (name === "--ready-timeout") {
      readyTimeoutMs = parseDuration(value ?? options[(n += 1)] ?? "", "--ready-timeout");
    } else if (options[n] !== "--") {
      nodeOptions.push(options[n] ?? "");
    }
  }
  if (script === undefined) {
    throw new LastcallError("LASTCALL_TAKEOVER_SCRIPT", "No file of an app was named.");
  }
  return {
    script,
    args: words.slice(at + 1),
    nodeOptions,
    ...(readyTimeoutMs === undefined ? {} : { readyTimeoutMs }),
  };
}

function main(): void {
  const words = process.argv.slice(2);
  if (words[0] === "--help" || words[0] === "-h") {
    process.stdout.write(USAGE);
    return;
  }
  try {
    const takeover = startTakeover(readArguments(words), host);
    const wrapper = describeWrapper(host.facts.ancestors());
    if (wrapper !== null) {
      host.writeLine(`lastcall-takeover: warning: ${new LastcallError("LASTCALL_WRAPPER", wrapper).message}`);
    }
    host.onSignal("SIGHUP", () => void takeover.reload());
    host.onSignal("SIGTERM", () => takeover.stop("SIGTERM"));
    host.onSignal("SIGINT", () => takeover.stop("SIGINT"));
    void takeover.ended.then((exitCode) => host.exit(exitCode));
  } catch (error) {
    if (!(error instanceof LastcallError)) {
      throw error;
    }
    host.writeLine(`lastcall-takeover: ${error.message}`);
    process.exitCode = 2;
  }
}

main();
