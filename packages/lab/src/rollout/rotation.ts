/** Which copies the router lists, and the two moves of an orchestrator: taking one out, letting one in. */

import type { RunClock } from "../ledger/clock.ts";
import type { EventRecord } from "../ledger/records.ts";
import type { Router, Upstream } from "../router/router.ts";

export interface Rotation {
  /** Resolves when new connections follow; the event is written then. */
  add(upstream: Upstream): Promise<void>;
  remove(copy: string): Promise<void>;
  /** As `remove`, for a copy that is gone and that the router had taken out by itself: nothing is told. */
  forget(copy: string): Promise<void>;
}

export function startRotation(
  router: Router,
  first: readonly Upstream[],
  clock: RunClock,
  emit: (event: EventRecord) => void,
): Rotation {
  let listed = first;
  const tell = (event: "added" | "removed", { copy, port }: Upstream): void =>
    emit({ kind: "event", atMs: clock.now(), source: "router", copy, event, detail: { port } });
  for (const upstream of first) {
    tell("added", upstream);
  }
  const drop = async (copy: string): Promise<Upstream | undefined> => {
    const leaving = listed.find((one) => one.copy === copy);
    if (leaving !== undefined) {
      listed = listed.filter((one) => one !== leaving);
      await router.set(listed);
    }
    return leaving;
  };
  return {
    add: async (upstream) => {
      listed = [...listed, upstream];
      await router.set(listed);
      tell("added", upstream);
    },
    remove: async (copy) => {
      const dropped = await drop(copy);
      if (dropped !== undefined) {
        tell("removed", dropped);
      }
    },
    forget: async (copy) => void (await drop(copy)),
  };
}
