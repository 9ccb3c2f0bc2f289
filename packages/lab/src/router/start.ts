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
 * Null: the embedded router. `auto` is nginx where it is found and can do what is wanted, else the embedded router, else
 * another that can. Errors: `LAB_ROUTER_CANNOT`, `LAB_ROUTER_MISSING`, `LAB_ROUTER_VERSION`.
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
  const able = (["nginx", "embedded", "haproxy", "caddy"] as const).filter(
    (name) => inabilityOf(name, behaviour) === null,
  );
  for (const name of able) {
    // One after the other: the first that is there is taken.
    const found = name === "embedded" ? null : await findRouter(name, env);
    if (name === "embedded" || (found !== null && isKnown(found))) {
      return found;
    }
  }
  const first = able.find((name) => name !== "embedded");
  if (first !== undefined) {
    return requireRouter(first, env);
  }
  assertCan("haproxy", behaviour);
  return null;
}
