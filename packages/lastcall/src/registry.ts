/**
 * What copies of the library in one process share, under keys that every copy knows. The lifecycle is claimed when one is
 * created, auto mode when `lastcall/auto` is loaded; the marks tell our own listeners and servers from the app's.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { LastcallError } from "./errors.ts";
import type { LifecycleOptions } from "./options.ts";
import type { Lifecycle } from "./life.ts";
import type { InheritedSocket } from "./platform/inherited.ts";
import type { Probe } from "./probes.ts";
import { VERSION } from "./version.ts";

/** The process's one lifecycle. */
export const LIFECYCLE_KEY: unique symbol = Symbol.for("lastcall.lifecycle");

export interface Registered {
  readonly version: string;
  readonly options: LifecycleOptions;
  readonly life: Lifecycle;
  /** Called by the watchdog in the paused main thread. */
  readonly beat?: () => void;
  /** Called by auto mode: the app itself answers this probe, so it is no work. */
  readonly noteProbe?: (request: IncomingMessage, probe: Probe) => void;
  /** Called by auto mode: the event streams that are open. */
  readonly eventStreams?: () => readonly ServerResponse[];
  /** Called by auto mode: runs `run` when new requests are refused on the old connections, too. */
  readonly onGateClosed?: (run: () => void) => void;
  /** Called by auto mode: runs `run` when nothing is left to wait for. A task that it begins is waited for. */
  readonly onDrained?: (run: () => void) => void;
}

/** Two majors cannot share a lifecycle. `we`: who asks, such as `this is lastcall`. Errors: LASTCALL_VERSIONS. */
export function assertSameMajor({ version }: Registered, we: string): void {
  const major = (text: string): string => text.split(".", 1)[0] ?? "";
  if (major(version) !== major(VERSION)) {
    throw new LastcallError(
      "LASTCALL_VERSIONS",
      `This process has a lifecycle of lastcall ${version}; ${we} ${VERSION}.`,
    );
  }
}

/** The process's one auto mode. */
export const AUTO_KEY: unique symbol = Symbol.for("lastcall.auto");

/** What a lifecycle, of whichever copy, asks of auto mode. */
export interface AutoMode {
  readonly version: string;
  /** The app's own stop handlers, for the record. */
  foreign(): readonly string[];
  /** The exit code that one of them asked for. */
  exitCode(): number | null;
  /** `life.shutdown()` was called, perhaps by one of them. */
  shutdownAsked?(): void;
  /** The lifecycle that auto mode made itself, whose options an explicit one may not fit. */
  own(): Lifecycle | null;
}

/** On a signal listener: it belongs to a copy of the library. */
export const OWN_LISTENER: unique symbol = Symbol.for("lastcall.listener");

/** On a server: the admin port of a copy of the library. */
export const ADMIN_SERVER: unique symbol = Symbol.for("lastcall.admin");

/** On a function that was put in place of `process.exit`: the real one. */
export const REAL_EXIT: unique symbol = Symbol.for("lastcall.exit");

/** In a copy of the app that `lastcall-takeover` has started. */
export const TAKEOVER_KEY: unique symbol = Symbol.for("lastcall.takeover");

export interface TakeoverCopy {
  readonly sockets: readonly InheritedSocket[];
  /** The descriptors among them that systemd has passed, and holds whatever becomes of the parent. */
  readonly activated: readonly number[];
  /** What the parent was granted, and how it knows. */
  readonly gracePeriodMs: number;
  readonly source: string;
  /** Another copy serves already: the stop needs no drain delay, and the sockets live on. */
  replaced: boolean;
}

export function isReplaced({ registry }: { readonly registry: Record<symbol, unknown> }): boolean {
  return (registry[TAKEOVER_KEY] as TakeoverCopy | undefined)?.replaced === true;
}
