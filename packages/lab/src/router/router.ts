/** A router in front of the copies. One interface; `embedded` needs nothing installed, the others are children of the lab. */

import type { RunClock } from "../ledger/clock.ts";
import type { EventRecord, RouterLine, RouterLogRecord } from "../ledger/records.ts";
import type { Stalls } from "../stalls.ts";
import type { Guardian } from "../target/guardian.ts";
import type { RouterBehaviour, RouterName } from "./options.ts";

export interface Upstream {
  /** The copy's name in the ledger. */
  readonly copy: string;
  readonly host: string;
  readonly port: number;
}

export interface RouterOptions extends RouterBehaviour {
  /** The port to listen on; 0 lets the system choose (a router that cannot ask for 0 finds a free one itself). */
  readonly port: number;
  /** A folder of its own for configuration, logs and temporary files. */
  readonly folder: string;
}

/** A router that was found on this machine. */
export interface FoundRouter {
  readonly name: Exclude<RouterName, "embedded">;
  readonly program: string;
  /** `nginx 1.22.1`. */
  readonly version: string;
}

export interface RouterContext {
  readonly clock: RunClock;
  readonly guardian: Guardian;
  /** `reloaded`; and `removed` and `added` by a router that asks the copies for their readiness. */
  readonly emit: (event: EventRecord) => void;
  readonly findPort: () => Promise<number>;
}

export interface Router {
  readonly name: RouterName;
  /** For the report: `nginx 1.22.1`. */
  readonly version: string;
  readonly port: number;
  /** Replaces the set of upstreams; resolves when new connections follow it. */
  set(upstreams: readonly Upstream[]): Promise<void>;
  /** What it logged as errors so far, classified, times on the run's clock. */
  log(): Promise<readonly RouterLogRecord[]>;
  /**
   * Its access log so far, by request id: the lines of the requests that are asked for, and of those that it tried again or that
   * failed there. Null: it keeps none.
   */
  accessLog(asked: (id: string) => boolean): Promise<ReadonlyMap<string, RouterLine> | null>;
  /** How late its own timers were; absent where it is a process of its own, which the machine's scheduler sees as any other. */
  readonly stalls?: () => Promise<Stalls>;
  stop(): Promise<void>;
}
