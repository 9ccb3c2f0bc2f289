/** Stop signals: which arrivals count. A process group and a wrapper both send one, so repeats within a silence are one. */

import type { Host, HostFacts, Undo } from "./host.ts";

/** A stop signal that counted, and what it did. */
export interface SignalHeard {
  readonly signal: NodeJS.Signals;
  readonly atMs: number;
  readonly effect: "began the stop" | "joined the stop" | "ended the drain delay" | "forced" | "ignored";
}

/** The signals that stop the service: those that were asked for, or those by which platforms and terminals ask. */
export function stopSignals(
  asked: readonly NodeJS.Signals[] | undefined,
  { windows }: Pick<HostFacts, "windows">,
): readonly NodeJS.Signals[] {
  return asked ?? (windows ? ["SIGTERM", "SIGINT", "SIGBREAK"] : ["SIGTERM", "SIGINT"]);
}

/** A signal counts as a new one only after this long without any. Sliding: 100 signals in a second are one. */
export const SILENCE_MS = 200;

/** Calls `heard` for each signal that counts; the handler does nothing else. */
export function listenForSignals(
  host: Host,
  signals: readonly NodeJS.Signals[],
  heard: (signal: NodeJS.Signals) => void,
): Undo {
  let lastAt = Number.NEGATIVE_INFINITY;
  const undo = signals.map((signal) =>
    host.onSignal(signal, () => {
      const now = host.now();
      const isNew = now - lastAt >= SILENCE_MS;
      lastAt = now;
      if (isNew) {
        heard(signal);
      }
    }),
  );
  return () => undo.forEach((remove) => remove());
}
