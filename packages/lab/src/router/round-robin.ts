/** Whom the embedded router asks: each time another copy first, and after it the others in their order. */

import type { Upstream } from "./router.ts";

export function createRoundRobin(): (upstreams: readonly Upstream[]) => Upstream[] {
  let turn = 0;
  return (upstreams) => {
    const first = turn % Math.max(1, upstreams.length);
    turn += 1;
    return [...upstreams.slice(first), ...upstreams.slice(0, first)];
  };
}
