/** What judges do again and again with a running copy: put a request in flight, keep a connection warm, find the gate. */

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Copy } from "./copy.ts";
import { type Hearing, sinceT0 } from "./court.ts";
import type { Subject } from "./subject.ts";
import { type Answer, Refused, type RequestShape, type Target, type Wire } from "./wire.ts";

/** Resolves when the copy has answered on a new connection: everything sent before has been read by then. */
export async function roundTrip(court: Hearing, copy: Copy): Promise<void> {
  const answer = await copy.ask(court.target("ordinary", { id: "round-trip" }));
  if (answer.status !== 200) {
    court.leave(
      `The ordinary route of ${court.subject.name} answered ${String(answer.status)} before the stop signal.`,
    );
  }
}

/** Sends a request on a connection of its own and returns once the copy has surely read it. */
export async function putInFlight(
  court: Hearing,
  copy: Copy,
  target: Target,
  shape?: RequestShape,
): Promise<Wire> {
  const wire = await copy.open();
  wire.request(target, shape);
  await roundTrip(court, copy);
  return wire;
}

/** Opens a connection and has one request answered on it, so that it is idle and kept alive. */
export async function warm(court: Hearing, copy: Copy): Promise<Wire> {
  const wire = await copy.open();
  wire.request(court.target("ordinary", { id: "warm" }));
  const answer = await wire.answer();
  if (answer.status !== 200 || answer.headers["connection"]?.toLowerCase() === "close") {
    court.leave(`${court.subject.name} does not keep connections alive before the stop signal.`);
  }
  return wire;
}

export async function warmMany(court: Hearing, copy: Copy, count: number): Promise<Wire[]> {
  const wires: Wire[] = [];
  while (wires.length < count) {
    const batch = Math.min(50, count - wires.length);
    // In batches below the listen backlog.
    wires.push(...(await Promise.all(Array.from({ length: batch }, () => warm(court, copy)))));
  }
  return wires;
}

/**
 * How long an exit takes here and now with nothing open: no delay by connections, which are judged by what they add to it.
 */
export async function exitWithNothingOpen(court: Hearing): Promise<number> {
  const copy = await court.start({ set: { drainDelay: 0 } });
  await roundTrip(court, copy);
  // Its connection has ended on both sides by then.
  await pause(100);
  copy.signal();
  const exit = await court.exit(copy, 2500, "Exit when nothing is in flight.");
  const tookMs = sinceT0(copy, exit.atMs);
  court.measure("exitWithNothingOpenMs", tookMs);
  return tookMs;
}

/** Apart far enough that the copy sees pauses between them: some wait for a quiet moment before they close the listener. */
const KNOCK_MS = 30;

/** When the listener refused a connection for the first time; null when it did not within the time. */
export async function untilRefused(copy: Copy, timeoutMs: number): Promise<number | null> {
  const deadlineMs = performance.now() + timeoutMs;
  const seen: { error: Error | null } = { error: null };
  while (seen.error === null && performance.now() < deadlineMs) {
    // Not one after the other: a packet that a full queue has dropped is sent again after a second.
    copy.open({ bare: true }).then(
      (wire) => wire.close(),
      (error: Error) => (seen.error ??= error),
    );
    // A closed listener announces itself to nobody: it can only be tried.
    await pause(KNOCK_MS);
  }
  if (seen.error instanceof Refused) {
    return seen.error.atMs;
  }
  if (seen.error !== null) {
    throw seen.error;
  }
  return null;
}

/** The contract's default. */
const DEFAULT_LINGER_MS = 250;

/** The linger window of a copy that was started with this one: the default where it cannot be set. */
export function lingerWindowMs({ settings }: Subject, wantedMs: number): number {
  return settings.linger === undefined ? DEFAULT_LINGER_MS : wantedMs;
}

export function announcesClose(answer: Answer): boolean {
  return /\bclose\b/i.test(answer.headers["connection"] ?? "");
}

/** Waits until this many milliseconds after the stop signal: a clause's own time, which nothing else announces. */
export async function untilAfterT0(copy: Copy, ms: number): Promise<void> {
  await pause(Math.max(0, (copy.t0Ms ?? performance.now()) + ms - performance.now()));
}
