/** What a takeover's parent and the copies of the app tell each other: one variable at the start, messages later. */

import type { AskedAddress, InheritedSocket } from "../platform/inherited.ts";

/** Set for a copy, read and removed before the app runs. */
export const TAKEOVER_VARIABLE = "LASTCALL_TAKEOVER";

/** The variable's value, as JSON. */
export interface Told {
  /** The parent's process id: a process that the app starts with its own environment is no copy. */
  readonly parent: number;
  readonly gracePeriodMs: number;
  readonly source: string;
  /** The parent's sockets, with the descriptors that they have in the copy; those that systemd passed come first. */
  readonly sockets: readonly InheritedSocket[];
  readonly activated: number;
}

/** From a copy. The word `ready` alone, as pm2's `wait_ready` has it, is a readiness too. */
export type FromCopy =
  | { readonly lastcall: "ready"; readonly gracePeriodMs: number | null }
  /** What it listens on comes with this message: on the descriptor `fd` that it was started with, or on a socket of its own. */
  | (AskedAddress & { readonly lastcall: "listens"; readonly fd: number | null })
  | (AskedAddress & { readonly lastcall: "failed"; readonly code: string });

export type ToCopy =
  /** Another copy serves: leave without a drain delay, and leave the sockets to it. */
  | { readonly lastcall: "leave" }
  /** Nobody listens on these any more; close the descriptors that were passed. */
  | { readonly lastcall: "drop"; readonly fds: readonly number[] };

export function readFromCopy(message: unknown): FromCopy | "ready" | null {
  if (message === "ready") {
    return "ready";
  }
  const isOurs = typeof message === "object" && message !== null && "lastcall" in message;
  return isOurs ? (message as FromCopy) : null;
}
