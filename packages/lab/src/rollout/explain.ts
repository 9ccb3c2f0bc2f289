/**
 * Proof by intervention: a run is repeated with one factor changed at a time, and what vanishes with a factor hangs on it. A
 * look at a table is a guess; this is a test. Pure: which runs to make, and what they say.
 */

import { inabilityOf } from "../router/options.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import type { KindSlug } from "../verdict/kinds.ts";
import type { Trial } from "../verdict/reruns.ts";
import type { KindTally, Verdict } from "../verdict/verdict.ts";

export interface Factor {
  readonly name: string;
  /** Completes "vanishes with": `GET requests only`. */
  readonly words: string;
  /** The plan with only this changed; null where there is nothing to change. */
  readonly change: (plan: RolloutPlan) => RolloutPlan | null;
  /** The kinds for which it is the cure, or the decisive question; for any other kind it may vanish by accident. */
  readonly proves: readonly KindSlug[];
  /** Asked whatever was found; the others only where they could prove something. */
  readonly always: boolean;
}

/** Long enough for most caches and pools; a copy that needs more has a readiness that lies. */
const WARM_UP_MS = 4000;
const MAX_GRACE_MS = 600_000;

export const FACTORS: readonly Factor[] = [
  {
    name: "router-first",
    words: "a drain delay longer than the router's lag (the signal comes after the router has let go)",
    change: (plan) => (plan.order === "remove-first" ? null : { ...plan, order: "remove-first" }),
    proves: [
      "closed-door",
      "refused-by-gate",
      "masked-by-retry",
      "not-retried",
      "wrong-order",
      "outage",
      "accept-queue",
      "blocked-loop",
      "wrapper",
    ],
    always: true,
  },
  {
    name: "get-only",
    words: "GET requests only",
    change: (plan) => {
      const { mix } = plan.load;
      if (mix === null) {
        return plan.routes.post === null || plan.routes.get === null
          ? null
          : { ...plan, routes: { ...plan.routes, post: null, postBody: null } };
      }
      const gets = mix.filter(({ method }) => method === "GET");
      return gets.length === 0 || gets.length === mix.length
        ? null
        : { ...plan, load: { ...plan.load, mix: gets } };
    },
    proves: ["not-retried", "unread-body", "duplicated", "unstored", "job-lost"],
    always: true,
  },
  {
    name: "no-keep-alive",
    words: "no pooled connections",
    change: (plan) =>
      plan.router.upstreamKeepAlive || plan.router.clientKeepAlive
        ? { ...plan, router: { ...plan.router, upstreamKeepAlive: false, clientKeepAlive: false } }
        : null,
    proves: ["keep-alive-race", "idle-burst", "idle-timeout", "router-reload", "slow-deregistration"],
    always: true,
  },
  {
    name: "no-reload",
    words: "a router that changes its list without a reload (embedded)",
    change: (plan) =>
      plan.router.name === "embedded" ||
      plan.router.name === "haproxy" ||
      inabilityOf("embedded", plan.router) !== null
        ? null
        : { ...plan, router: { ...plan.router, name: "embedded" } },
    proves: ["router-reload", "router-port-reuse", "router-error"],
    always: true,
  },
  {
    name: "longer-grace",
    words: "three times the grace period",
    change: (plan) => ({ ...plan, gracePeriodMs: Math.min(MAX_GRACE_MS, plan.gracePeriodMs * 3) }),
    proves: ["killed", "prestop-eats-grace"],
    always: false,
  },
  {
    name: "no-retries",
    words: "no retries by the router",
    change: (plan) => (plan.router.retries ? { ...plan, router: { ...plan.router, retries: false } } : null),
    proves: ["duplicated"],
    always: false,
  },
  {
    name: "warm-up",
    words: `${WARM_UP_MS / 1000} s between readiness and the router's list`,
    change: (plan) => (plan.warmUpMs >= WARM_UP_MS ? null : { ...plan, warmUpMs: WARM_UP_MS }),
    proves: ["not-ready-yet", "cold-copy"],
    always: false,
  },
  {
    name: "one-more-copy",
    words: "one copy more",
    change: (plan) => ({ ...plan, copies: plan.copies + 1 }),
    proves: ["too-few-copies"],
    always: false,
  },
];

function present(verdict: Verdict): readonly KindTally[] {
  return verdict.kinds.filter((kind) => kind.count > 0 || kind.fails);
}

/** The runs that are worth making; none when nothing went wrong. */
export function factorsFor(
  plan: RolloutPlan,
  verdict: Verdict,
): readonly { readonly factor: Factor; readonly plan: RolloutPlan }[] {
  const slugs = new Set<string>(present(verdict).map((kind) => kind.slug));
  if (slugs.size === 0) {
    return [];
  }
  return FACTORS.filter(({ always, proves }) => always || proves.some((slug) => slugs.has(slug))).flatMap(
    (factor) => {
      const changed = factor.change(plan);
      return changed === null ? [] : [{ factor, plan: { ...changed, expectation: null } }];
    },
  );
}

/** Fewer than this may be absent from the next run by luck alone: 3 expected and none seen happens in 5 % of runs. */
const NO_LUCK = 3;

export function trialOf(factor: Factor, before: Verdict, after: Verdict, folder: string): Trial {
  const still = new Set(present(after).map((kind) => kind.slug));
  const gone = after.outcome === "invalid" ? [] : present(before).filter((kind) => !still.has(kind.slug));
  const decisive = gone.filter(
    (kind) => factor.proves.includes(kind.slug as KindSlug) && (kind.count >= NO_LUCK || kind.count === 0),
  );
  return {
    factor: factor.name,
    words: factor.words,
    outcome: after.outcome,
    before: before.requests.bad,
    after: after.requests.bad,
    vanished: gone.map((kind) => kind.slug),
    proves: decisive.map((kind) => kind.slug),
    folder,
  };
}
