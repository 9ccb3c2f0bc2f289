/** Makes the process's one lifecycle, or joins the one there is, also from a second copy of the library. */

import { LastcallError } from "./errors.ts";
import type { Host } from "./host.ts";
import type { Lifecycle } from "./life.ts";
import { LifecycleCore } from "./lifecycle.ts";
import { nodeHost } from "./node-host.ts";
import { readOptions, type LifecycleOptions } from "./options.ts";
import { VERSION } from "./version.ts";

/** The only global of the library. */
const KEY: unique symbol = Symbol.for("lastcall.lifecycle");

interface Registered {
  readonly version: string;
  readonly options: LifecycleOptions;
  readonly life: Lifecycle;
}

/**
 * Owns the stop signals of the process from here on. The first call decides the options; a later one joins and may
 * repeat them, not change them. `host` is the seam for tests, see `lastcall/testing`.
 *
 * Errors: LASTCALL_OPTION, LASTCALL_ENVIRONMENT, LASTCALL_BUDGET, LASTCALL_OPTIONS_DIFFER, LASTCALL_VERSIONS.
 */
export function createLifecycle(options: LifecycleOptions = {}, host: Host = nodeHost()): Lifecycle {
  const registered = host.registry[KEY] as Registered | undefined;
  if (registered !== undefined) {
    join(registered, readOptions(options, host.env));
    return registered.life;
  }
  const read = readOptions(options, host.env);
  const life = new LifecycleCore(read, host);
  const entry: Registered = { version: VERSION, options: read, life };
  host.registry[KEY] = entry;
  life.events.once("record", () => {
    // The life is over. A test, or a script that goes on, may begin another one.
    delete host.registry[KEY];
  });
  return life;
}

function join(registered: Registered, options: LifecycleOptions): void {
  const major = (version: string): string => version.split(".", 1)[0] ?? "";
  if (major(registered.version) !== major(VERSION)) {
    throw new LastcallError(
      "LASTCALL_VERSIONS",
      `This process has a lifecycle of lastcall ${registered.version}; this is lastcall ${VERSION}.`,
    );
  }
  const first = registered.options as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(options)) {
    if (JSON.stringify(value) !== JSON.stringify(first[name])) {
      throw new LastcallError(
        "LASTCALL_OPTIONS_DIFFER",
        `The lifecycle exists with ${name} ${JSON.stringify(first[name]) ?? "unset"}; this call asks for ${JSON.stringify(value)}.`,
      );
    }
  }
}
