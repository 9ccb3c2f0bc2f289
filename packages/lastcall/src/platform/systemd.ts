/** What systemd is told, in the order of a life. Pure. */

import { formatDuration } from "../duration.ts";

export const READY: readonly string[] = ["READY=1", "STATUS=serving"];

/** `extendMs`: what was set as the grace period, so that a shorter TimeoutStopSec does not cut the stop. */
export function stopping(deadlineInMs: number, extendMs: number | undefined): readonly string[] {
  return [
    "STOPPING=1",
    `STATUS=draining, at most ${formatDuration(deadlineInMs)}`,
    ...(extendMs === undefined ? [] : [`EXTEND_TIMEOUT_USEC=${Math.ceil(extendMs * 1000)}`]),
  ];
}

export const TEARDOWN: readonly string[] = ["STATUS=closing"];
