/** A router in front of the copies. One interface; `embedded` needs nothing installed, `nginx` is a child of the lab. */

import type { RouterLogRecord } from "../ledger/records.ts";

export interface Upstream {
  /** The copy's name in the ledger. */
  readonly copy: string;
  readonly host: string;
  readonly port: number;
}

export interface RouterOptions {
  /** The port to listen on; 0 lets the system choose (a router that cannot ask for 0 finds a free one itself). */
  readonly port: number;
  /** Try the next upstream as nginx's `proxy_next_upstream error timeout` does: never a POST that was sent. */
  readonly retries: boolean;
  /** Pool connections to the copies (16 idle ones, HTTP/1.1). */
  readonly upstreamKeepAlive: boolean;
  /** Keep the client's connections open. */
  readonly clientKeepAlive: boolean;
  /** A folder of its own for configuration, logs and temporary files. */
  readonly folder: string;
}

export interface Router {
  readonly name: "embedded" | "nginx";
  /** For the report: `nginx 1.22.1`. */
  readonly version: string;
  readonly port: number;
  /** Replaces the set of upstreams; resolves when new connections follow it. */
  set(upstreams: readonly Upstream[]): Promise<void>;
  /** What it logged as errors so far, classified, times on the run's clock. */
  log(): Promise<readonly RouterLogRecord[]>;
  stop(): Promise<void>;
}
