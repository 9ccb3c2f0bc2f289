/** How work that outlives its answer is held. Each build brings its own way; without one nobody holds it. */

export type Fate = "abort" | "abandon";
export type Track = <T>(name: string, work: (signal: AbortSignal) => Promise<T>, fate: Fate) => Promise<T>;

/** A bare promise: nobody waits for it, and its signal never fires. */
export const untracked: Track = (_name, work) => work(new AbortController().signal);

export interface CountedTrack {
  readonly track: Track;
  readonly counts: { readonly begun: number; readonly running: number };
}

/** The same, counted, so that the events can say how many tasks were tracked and how many were left. */
export function counted(track: Track): CountedTrack {
  const counts = { begun: 0, running: 0 };
  return {
    counts,
    track: (name, work, fate) => {
      counts.begun += 1;
      counts.running += 1;
      return track(
        name,
        async (signal) => {
          try {
            return await work(signal);
          } finally {
            counts.running -= 1;
          }
        },
        fate,
      );
    },
  };
}
