/**
 * What reruns say of a run: a kind that vanished with the factor that decides it is proven, and a control that showed no loss makes
 * the lab blind. Pure; which reruns to make is decided in rollout/.
 */

import type { ControlRecord, TrialRecord } from "../ledger/records.ts";
import { KINDS, type KindSlug } from "./kinds.ts";
import type { Verdict } from "./verdict.ts";

/** A rerun with one factor changed. */
export type Trial = Omit<TrialRecord, "kind">;
/** A rerun that must show losses. */
export type Control = Omit<ControlRecord, "kind">;

/** Why the lab is blind; null when its controls failed as they must. */
export function blindness(controls: readonly Control[]): string | null {
  const doubtful = controls.find(({ outcome }) => outcome === "invalid");
  if (doubtful !== undefined) {
    return `the control with ${doubtful.words} was invalid: nobody knows whether this lab sees losses here`;
  }
  const blind = controls.find(({ bad }) => bad === 0);
  return blind === undefined
    ? null
    : `the lab is blind: the control with ${blind.words} must show losses, and showed none in ${blind.sent} requests`;
}

/** The verdict with what its reruns say: surer of what was proven, and invalid if the lab is blind, whatever it was. */
export function withReruns(
  verdict: Verdict,
  trials: readonly Trial[],
  controls: readonly Control[],
): Verdict {
  const proven = new Set(trials.flatMap((trial) => trial.proves));
  const reason = blindness(controls);
  const invalid = reason === null ? verdict.invalid : [...verdict.invalid, reason];
  return {
    ...verdict,
    ...(reason === null
      ? {}
      : { outcome: "invalid" as const, invalid, headline: `invalid run: ${invalid.join("; ")}` }),
    kinds: verdict.kinds.map((kind) => (proven.has(kind.slug) ? { ...kind, confidence: "proven" } : kind)),
    trials,
    controls,
  };
}

/** `the failures vanish with GET requests only`, or what else it shows. */
export function trialInWords(trial: Trial): string {
  if (trial.outcome === "invalid") {
    return `with ${trial.words}: the run was invalid and says nothing`;
  }
  const counts = `${trial.before} before, ${trial.after} after`;
  if (trial.after === 0 && trial.outcome === "pass") {
    return `the failures vanish with ${trial.words} (${counts})`;
  }
  const names = trial.vanished.map((slug) => {
    const { title, id } = KINDS[slug as KindSlug] ?? { title: slug, id: "?" };
    return `${title} (${id})`;
  });
  return names.length > 0
    ? `${names.join(", ")} ${names.length === 1 ? "vanishes" : "vanish"} with ${trial.words} (${counts})`
    : `no kind vanishes with ${trial.words} (${counts})`;
}

/** `SIGKILL instead of the stop signal: 6 of 80 requests went wrong, as they must`. */
export function controlInWords({ words, outcome, bad, sent }: Control): string {
  if (outcome === "invalid") {
    return `${words}: the run was invalid and says nothing`;
  }
  return `${words}: ${bad} of ${sent} ${sent === 1 ? "request" : "requests"} went wrong, ${bad > 0 ? "as they must" : "and some must"}`;
}
