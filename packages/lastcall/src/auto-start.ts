/**
 * How auto mode starts: a lifecycle for an app that knows nothing of it, where one is wanted and can be had.
 */

import { Auto } from "./auto-mode.ts";
import { readAutoOptions } from "./auto-options.ts";
import { LastcallError } from "./errors.ts";
import type { Host } from "./host.ts";
import { useActivatedSockets } from "./inherited-sockets.ts";
import { isStarter } from "./platform/wrapper.ts";
import { AUTO_KEY, TAKEOVER_KEY } from "./registry.ts";
import { TAKEOVER_VARIABLE } from "./takeover/messages.ts";

/**
 * Does nothing in package managers and `lastcall-takeover`, which inherit NODE_OPTIONS like everybody else, and when it is there already.
 */
export function startAuto(host: Host): void {
  const { workerThread, program } = host.facts;
  if (isStarter(program) || host.registry[AUTO_KEY] !== undefined) {
    return;
  }
  if (host.facts.runtime === "bun") {
    refuseBun(host);
    return;
  }
  const options = readAutoOptions(host);
  if (workerThread) {
    // The main thread has said what is wrong with them.
    host.registry[AUTO_KEY] = new Auto(host, options);
    return;
  }
  options.problems.forEach((problem) => host.writeLine(`lastcall: ${problem}`));
  if (options.problems.length > 0) {
    if (options.strict) {
      refuseApp(host);
      return;
    }
    host.writeLine("lastcall: the defaults are used instead; LASTCALL_STRICT=1 would refuse to start.");
  }
  host.registry[AUTO_KEY] = new Auto(host, options);
  if (host.registry[TAKEOVER_KEY] === undefined && host.env[TAKEOVER_VARIABLE] === undefined) {
    useActivatedSockets(host);
  }
}

/** Nothing is held, so the app runs and stops as it would without us. */
function refuseBun(host: Host): void {
  const error = new LastcallError(
    "LASTCALL_RUNTIME",
    "lastcall/auto does nothing under Bun, which announces no server that begins to listen.",
  );
  host.writeLine(`lastcall: warning: ${error.message}`);
  if (host.env["LASTCALL_STRICT"] === "1") {
    refuseApp(host);
  }
}

function refuseApp(host: Host): void {
  host.writeLine("lastcall: LASTCALL_STRICT is 1, so the app is not started.");
  host.exit(1);
}
