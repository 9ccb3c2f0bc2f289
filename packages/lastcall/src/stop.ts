/** One stop: what began it, in which order it leaves, and its instants. */

import type { Deadline } from "./deadline.ts";
import type { LifecycleOptions } from "./options.ts";
import type { Platform } from "./platform.ts";
import type { ShutdownRecord } from "./record.ts";

export interface Stop {
  readonly reason: ShutdownRecord["reason"];
  readonly why: string | undefined;
  /** The platform's signal; after `shutdown()` it may come later. */
  signal: NodeJS.Signals | null;
  /** Wall time of the beginning. */
  readonly at: string;
  readonly leaveOrder: ShutdownRecord["leaveOrder"];
  readonly foreign: readonly string[];
  deadline: Deadline;
  drainingAt: number | null;
  teardownAt: number | null;
}

/** Whoever asked for readiness this recently is a router that will hear of the stop. */
const READINESS_MEMORY_MS = 30_000;

/**
 * When new connections go elsewhere or will, the clients are told first; when nobody was told, the listener closes first:
 * a refused connection is retried safely everywhere, a request on a dying listener is not.
 */
export function chooseLeaveOrder(
  asked: LifecycleOptions["leaveOrder"],
  platform: Platform,
  sinceReadinessAskedMs: number,
): Stop["leaveOrder"] {
  if (asked === "announce-first" || asked === "listener-first") {
    return asked;
  }
  return platform.router || sinceReadinessAskedMs <= READINESS_MEMORY_MS
    ? "announce-first"
    : "listener-first";
}
