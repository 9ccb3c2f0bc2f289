/** What the judges of HTTP/2 and gRPC do: find the doors, stand at a distance, and ask without a pause over a restart. */

import { setTimeout as pause } from "node:timers/promises";
import type { Copy, Http2Door, StartPlan } from "./copy.ts";
import type { Hearing } from "./court.ts";
import type { Http2Stream, Http2Wire } from "./http2-wire.ts";

/** One way: half of the round trip of 30 ms. */
export const DISTANCE_MS = 15;

/** A door at which HTTP/2 is spoken, and how to start the service so. */
export interface Http2Way {
  readonly door: Http2Door;
  readonly plan: StartPlan;
}

/** Every way of the service; the hearing ends where it has none. */
export function http2Ways(court: Hearing): readonly Http2Way[] {
  const { modes, http2Port } = court.subject;
  const { h2c, h2 } = modes;
  const ways: readonly Http2Way[] = [
    ...(h2c === undefined ? [] : [{ door: "h2c", plan: { mode: h2c, speaks: "h2c" } } as const]),
    ...(http2Port === undefined ? [] : [{ door: "http2Port", plan: { speaks: "http2Port" } } as const]),
    ...(h2 === undefined ? [] : [{ door: "h2", plan: { mode: h2, speaks: "h2" } } as const]),
  ];
  if (ways.length === 0) {
    court.leave("the description names no modes.h2c, modes.h2 or http2Port");
  }
  return ways;
}

/** The drain delay that the judge wants, or the one that the service has. */
export function delayFor(court: Hearing, wantedMs: number): number {
  const { settings, fixedDrainDelayMs } = court.subject;
  return settings.drainDelay === undefined ? (fixedDrainDelayMs ?? 0) : wantedMs;
}

/** Sessions at a distance, each of which has had an answer. */
export async function openSessions(
  court: Hearing,
  copy: Copy,
  way: Http2Way,
  count: number,
): Promise<Http2Wire[]> {
  const wires = await Promise.all(Array.from({ length: count }, () => copy.openHttp2(way.door, DISTANCE_MS)));
  for (const wire of wires) {
    if (!(await wire.ping())) {
      court.leave(`No HTTP/2 session could be opened at ${way.door}.`);
    }
  }
  return wires;
}

/** Opens a stream every few milliseconds until the session is told to go; returns the streams. */
export async function askWithoutPause(
  wire: Http2Wire,
  ask: () => Http2Stream,
  everyMs: number,
  over: AbortSignal,
): Promise<void> {
  while (wire.open && !over.aborted) {
    ask();
    // Streams follow one another.
    await pause(everyMs);
  }
}
