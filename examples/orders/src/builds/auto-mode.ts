/**
 * The builds `auto` and `auto-naive`: the bare and the naive source, unchanged, under `lastcall/auto`. Loaded here what
 * `node --import lastcall/auto` loads, so that the launcher's options can be said in the environment first.
 */

import type { Options } from "../options.ts";

const VARIABLES = {
  gracePeriodMs: "LASTCALL_GRACE_PERIOD",
  drainDelayMs: "LASTCALL_DRAIN_DELAY",
  gracefulTimeoutMs: "LASTCALL_GRACEFUL_TIMEOUT",
  taskTimeoutMs: "LASTCALL_TASK_TIMEOUT",
  teardownTimeoutMs: "LASTCALL_TEARDOWN_TIMEOUT",
  leaveOrder: "LASTCALL_LEAVE_ORDER",
  admission: "LASTCALL_ADMISSION",
} as const;

/** Before any server listens. The hand-written probes stay; readiness says no from the signal on, the admin port closes last. */
export async function loadAutoMode({ lifecycle, adminPort }: Options): Promise<void> {
  for (const [option, name] of Object.entries(VARIABLES)) {
    const value = lifecycle[option as keyof typeof VARIABLES];
    if (value !== undefined) process.env[name] ??= typeof value === "number" ? `${value}ms` : value;
  }
  process.env["LASTCALL_PROBE_PATHS"] ??= "live=/health,ready=/ready,state=/statez";
  // As with the `lastcall` build: a budget that cannot fit is not served with.
  process.env["LASTCALL_STRICT"] ??= "1";
  if (adminPort !== undefined) process.env["LASTCALL_CLOSE_LAST_PORTS"] ??= String(adminPort);
  await import("lastcall/auto");
}
