/** The embedded router's own questions to the copies: who is ready is in, who is not is out. */

import { request } from "node:http";
import type { HealthChecks } from "./options.ts";
import type { Upstream } from "./router.ts";
import { address } from "./upstream-pool.ts";

const FALL = 2;
const RISE = 1;
const SHORTEST_TIMEOUT_MS = 1000;

interface Watched {
  readonly upstream: Upstream;
  readonly timer: NodeJS.Timeout;
  up: boolean;
  /** Answers in a row that say the other thing. */
  against: number;
}

export interface Health {
  /** Begins to ask those that are new, as ready; asks those no more that are gone. */
  watch(upstreams: readonly Upstream[]): void;
  /** Of the last list those that are ready. */
  ready(): readonly Upstream[];
  stop(): void;
}

function isReady({ host, port }: Upstream, path: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ host, port, path, agent: false, timeout: timeoutMs }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.once("timeout", () => asked.destroy());
    asked.once("error", () => resolve(false));
    asked.end();
  });
}

/** `onChange`: a copy has gone up or down. */
export function startHealth(
  checks: HealthChecks,
  onChange: (upstream: Upstream, up: boolean) => void,
): Health {
  const { path, intervalMs, fall, rise } = checks;
  const timeoutMs = Math.max(SHORTEST_TIMEOUT_MS, intervalMs);
  const watched = new Map<string, Watched>();

  async function ask(one: Watched): Promise<void> {
    const ready = await isReady(one.upstream, path, timeoutMs);
    if (ready === one.up) {
      one.against = 0;
      return;
    }
    one.against += 1;
    if (
      one.against >= (one.up ? (fall ?? FALL) : (rise ?? RISE)) &&
      watched.get(address(one.upstream)) === one
    ) {
      one.up = ready;
      one.against = 0;
      onChange(one.upstream, ready);
    }
  }

  return {
    watch: (upstreams) => {
      const names = new Set(upstreams.map(address));
      for (const [name, { timer }] of watched) {
        if (!names.has(name)) {
          clearInterval(timer);
          watched.delete(name);
        }
      }
      for (const upstream of upstreams) {
        if (!watched.has(address(upstream))) {
          const timer = setInterval(() => void ask(one), intervalMs);
          const one: Watched = { upstream, timer, up: true, against: 0 };
          watched.set(address(upstream), one);
        }
      }
    },
    ready: () => [...watched.values()].filter(({ up }) => up).map(({ upstream }) => upstream),
    stop: () => {
      for (const { timer } of watched.values()) {
        clearInterval(timer);
      }
    },
  };
}
