/** Chooses the router of a run from those that this machine has, and starts it. */

import { startCaddy } from "./caddy.ts";
import { startEmbedded } from "./embedded.ts";
import { findRouter, isKnown, requireRouter, type Env } from "./find.ts";
import { startHaproxy } from "./haproxy.ts";
import { startNginx } from "./nginx.ts";
import { assertCan, inabilityOf, type RouterBehaviour, type RouterName } from "./options.ts";
import type { FoundRouter, Router, RouterContext, RouterOptions, Upstream } from "./router.ts";

const STARTERS = { nginx: startNginx, haproxy: startHaproxy, caddy: startCaddy } as const;

/** `found` null: the embedded router. */
export function startRouter(
  found: FoundRouter | null,
  options: RouterOptions,
  upstreams: readonly Upstream[],
  context: RouterContext,
): Promise<Router> {
  return found === null
    ? startEmbedded(options, upstreams, context)
    : STARTERS[found.name](found, options, upstreams, context);
}

/**
 * Null: the embedded router. `auto` is nginx where it is found and can do what is wanted, else another that can, else the embedded
 * router. Errors: `LAB_ROUTER_CANNOT`, `LAB_ROUTER_MISSING`, `LAB_ROUTER_VERSION`.
 */
export async function chooseRouter(
  wanted: "auto" | RouterName,
  behaviour: Omit<RouterBehaviour, "retries">,
  env: Env,
): Promise<FoundRouter | null> {
  if (wanted === "embedded") {
    assertCan(wanted, behaviour);
    return null;
  }
  if (wanted !== "auto") {
    assertCan(wanted, behaviour);
    return requireRouter(wanted, env);
  }
  // Where nginx cannot do it a real router says more than ours, and ours more than none.
  const order =
    inabilityOf("nginx", behaviour) === null ? (["nginx"] as const) : (["haproxy", "caddy"] as const);
  for (const name of order.filter((one) => inabilityOf(one, behaviour) === null)) {
    // One after the other: the first that is there is taken.
    const found = await findRouter(name, env);
    if (found !== null && isKnown(found)) {
      return found;
    }
  }
  const [first] = order.filter((one) => inabilityOf(one, behaviour) === null);
  if (inabilityOf("embedded", behaviour) !== null && first !== undefined) {
    return requireRouter(first, env);
  }
  assertCan("embedded", behaviour);
  return null;
}
