/** What every build is given, and what it has to do with it: serve, and end in its own way. */

import type { Server } from "node:http";
import type { AccessLog } from "../access-log.ts";
import type { Handler } from "../app.ts";
import type { Note } from "../lines.ts";
import type { Options } from "../options.ts";
import type { Probes } from "../probes.ts";
import type { Store } from "../store.ts";
import type { Track } from "../tracking.ts";

export interface Parts {
  readonly options: Options;
  readonly note: Note;
  readonly store: Store;
  readonly counts: AccessLog["counts"];
  /** The service's handler, with the build's way to hold work and to tell long responses that it stops. */
  readonly handler: (hold: { readonly track: Track; readonly stopping?: AbortSignal }) => Handler;
  readonly probes: Probes;
}

/** Returns the server, told to listen. */
export type Build = (parts: Parts) => Server;
