/** A router's behaviour for tests: the plainest, with what a test changes. */

import type { RouterBehaviour } from "../../src/router/options.ts";

export const PLAIN: RouterBehaviour = {
  retries: false,
  retryPosts: false,
  upstreamKeepAlive: false,
  clientKeepAlive: false,
  removal: "control-plane",
  pooledAtRemoval: "closed-when-idle",
  health: { path: "/ready", intervalMs: 100, fall: null, rise: null },
  passive: null,
};
