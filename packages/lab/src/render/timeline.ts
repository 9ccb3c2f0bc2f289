/** What happened to a copy from its stop signal to its replacement, in a line; and the spread over many of them. */

import type { Restart, Verdict } from "../verdict/verdict.ts";

/** Between the moments of a timeline, which are kept whole where it is broken. */
export const ARROW = " → ";

export const seconds = (ms: number): string => (ms / 1000).toFixed(2);

/** The start of the load: a reader's time zero. */
export function loadStartMs(verdict: Verdict): number {
  return verdict.timeline.find((event) => event.event === "load-started")?.atMs ?? 0;
}

/**
 * `SIGTERM A 1.50 → not ready 1.52 → out 2.51 → exit 0 4.02 → A2 ready 4.30 → in 4.35`, in the order in which it came, in
 * seconds since the load began.
 */
export function timelineOf(restart: Restart, verdict: Verdict): string {
  const moments: [number, string][] = [[restart.signalMs, `${restart.signal} ${restart.copy}`]];
  const add = (atMs: number | null | undefined, text: string): void => {
    if (atMs !== null && atMs !== undefined) {
      moments.push([atMs, text]);
    }
  };
  const notReady = verdict.timeline.find(
    (event) => event.event === "not-ready" && event.copy === restart.copy,
  );
  add(notReady?.atMs, "not ready");
  add(restart.removedMs, "out");
  add(restart.killedMs, "SIGKILL");
  add(restart.exitMs, restart.exitSignal === null ? `exit ${restart.exitCode ?? "?"}` : "gone");
  add(restart.replacement?.readyMs, `${restart.replacement?.copy ?? ""} ready`);
  add(restart.replacement?.addedMs, "in");
  return moments
    .toSorted(([a], [b]) => a - b)
    .map(([atMs, text]) => `${text} ${seconds(atMs - loadStartMs(verdict))}`)
    .join(ARROW);
}

/** `signal to exit 2.52 to 2.61 s, ...`: the shortest and the longest of all restarts. */
export function spansOf(restarts: readonly Restart[]): string {
  const span = (name: string, lengths: readonly (number | null)[]): string[] => {
    const known = lengths.filter((ms) => ms !== null);
    return known.length === 0
      ? []
      : [`${name} ${seconds(Math.min(...known))} to ${seconds(Math.max(...known))} s`];
  };
  const between = (from: number | null | undefined, to: number | null | undefined): number | null =>
    typeof from === "number" && typeof to === "number" ? to - from : null;
  return [
    ...span(
      "signal to out",
      restarts.map((one) => between(one.signalMs, one.removedMs)),
    ),
    ...span(
      "signal to exit",
      restarts.map((one) => between(one.signalMs, one.exitMs)),
    ),
    ...span(
      "start to ready",
      restarts.map(({ replacement }) => between(replacement?.startedMs, replacement?.readyMs)),
    ),
  ].join(", ");
}
