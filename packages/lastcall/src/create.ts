/** Makes the process's one lifecycle, or joins the one there is, also from a second copy of the library. */

import { LastcallError } from "./errors.ts";
import type { Host } from "./host.ts";
import type { Lifecycle } from "./life.ts";
import { LifecycleCore } from "./lifecycle.ts";
import { nodeHost } from "./node-host.ts";
import { readOptions, type LifecycleOptions } from "./options.ts";
import { assertSameMajor, AUTO_KEY, LIFECYCLE_KEY, type AutoMode, type Registered } from "./registry.ts";
import { VERSION } from "./version.ts";

/**
 * Owns the stop signals of the process from here on. The first call decides the options; a later one joins and may
 * repeat them, not change them. `host` is the seam for tests, see `lastcall/testing`.
 *
 * Errors: LASTCALL_OPTION, LASTCALL_ENVIRONMENT, LASTCALL_BUDGET, LASTCALL_OPTIONS_DIFFER, LASTCALL_VERSIONS.
 */
export function createLifecycle(options: LifecycleOptions = {}, host: Host = nodeHost()): Lifecycle {
  const registered = host.registry[LIFECYCLE_KEY] as Registered | undefined;
  if (registered !== undefined) {
    join(registered, readOptions(options, host.env), host);
    return registered.life;
  }
  const read = readOptions(options, host.env);
  const life = new LifecycleCore(read, host);
  const entry: Registered = {
    version: VERSION,
    options: read,
    life,
    beat: life.beat,
    noteProbe: life.noteProbe,
    eventStreams: life.eventStreams,
    onGateClosed: life.onGateClosed,
    onDrained: life.onDrained,
  };
  host.registry[LIFECYCLE_KEY] = entry;
  life.events.once("record", () => {
    // The life is over. A test, or a script that goes on, may begin another one.
    delete host.registry[LIFECYCLE_KEY];
  });
  return life;
}

function join(registered: Registered, options: LifecycleOptions, host: Host): void {
  assertSameMajor(registered, "this is lastcall");
  const first = registered.options as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(options)) {
    if (JSON.stringify(value) !== JSON.stringify(first[name])) {
      const error = new LastcallError(
        "LASTCALL_OPTIONS_DIFFER",
        `The lifecycle exists with ${name} ${JSON.stringify(first[name]) ?? "unset"}; this call asks for ${JSON.stringify(value)}.`,
      );
      if (isOfAutoMode(registered, host)) {
        // The app was right to ask: auto mode was there first, because a server listened before this call.
        host.writeLine(
          `lastcall: warning: ${error.message} Auto mode made it when a server listened: set LASTCALL_ variables, or call this before listen().`,
        );
        continue;
      }
      throw error;
    }
  }
}

function isOfAutoMode(registered: Registered, host: Host): boolean {
  return (host.registry[AUTO_KEY] as AutoMode | undefined)?.own() === registered.life;
}
