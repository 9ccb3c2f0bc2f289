/** Clients under whose eyes something is restarted: each asks again and again, on a connection of its own for each request. */

import { ask } from "./child.ts";

export interface Clients {
  /** They ask no more: how often they saw which status, or `refused`, or `cut`. */
  end(): Promise<ReadonlyMap<number | string, number>>;
}

export function startClients(port: number, count = 8): Clients {
  const seen = new Map<number | string, number>();
  const through = new AbortController();
  const one = async (): Promise<void> => {
    while (!through.signal.aborted) {
      const { status } = await ask(port, "/");
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
  };
  const all = Promise.all(Array.from({ length: count }, one));
  return {
    end: async () => {
      through.abort();
      await all;
      return seen;
    },
  };
}
