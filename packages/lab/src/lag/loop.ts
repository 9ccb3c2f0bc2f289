/** The loop of `lastcall lag`: looks at a fixed rate, whatever becomes of the earlier ones, until it is told to stop. */

import type { Look, Looker } from "./look.ts";

export interface LoopOptions {
  readonly looker: Looker;
  readonly ratePerSecond: number;
  /** At most so many at a time: a service that hangs must not be buried. */
  readonly maxOpen: number;
  readonly now: () => number;
  readonly onLook: (look: Look) => void;
}

export interface Loop {
  /** How many were due and not sent because too many were open. */
  readonly heldBack: number;
  /** Sends no more; resolves when every look has its fate. */
  stop(): Promise<void>;
}

export function startLoop(options: LoopOptions): Loop {
  const { looker, ratePerSecond, now } = options;
  const everyMs = 1000 / ratePerSecond;
  const startMs = now();
  const open = new Set<Promise<void>>();
  let n = 0;
  let heldBack = 0;
  let timer: NodeJS.Timeout | null = null;
  const tick = (): void => {
    for (let dueMs = startMs + n * everyMs; dueMs <= now(); dueMs = startMs + n * everyMs) {
      n += 1;
      if (open.size >= options.maxOpen) {
        heldBack += 1;
        continue;
      }
      const looking = looker.look(dueMs).then((look) => {
        open.delete(looking);
        options.onLook(look);
      });
      open.add(looking);
    }
    timer = setTimeout(tick, Math.max(1, startMs + n * everyMs - now()));
  };
  tick();
  return {
    get heldBack() {
      return heldBack;
    },
    stop: async () => {
      if (timer !== null) {
        clearTimeout(timer);
      }
      await Promise.all(open);
    },
  };
}
