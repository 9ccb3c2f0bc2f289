/** What a rule is and what it says: a rule looks at the model and yields drafts; the runner makes them findings. */

import type { Model } from "./model/model.ts";
import type { Place } from "./source.ts";

export type Severity = "error" | "warning" | "info";

export interface Edit {
  readonly at: Place;
  readonly text: string;
}

/** A change that is certain to be what the author meant. */
export interface Fix {
  readonly title: string;
  readonly edits: readonly Edit[];
}

/** A second place that explains the first. */
export interface Related {
  readonly message: string;
  readonly at: Place;
}

/** What a rule yields. */
export interface Draft {
  readonly at: Place;
  readonly message: string;
  /** When it differs from the rule's own. */
  readonly severity?: Severity;
  /** An itemised sum or other lines printed below the message. */
  readonly details?: readonly string[];
  readonly related?: readonly Related[];
  readonly fix?: Fix;
}

export interface Finding extends Draft {
  readonly rule: string;
  readonly severity: Severity;
  readonly why: string;
}

export interface Rule {
  /** `area/name`; `docs/rules/area/name.md` is its page. */
  readonly id: string;
  /** The most severe finding it gives; some are milder. */
  readonly severity: Severity;
  /** One line for lists. */
  readonly summary: string;
  /** One line: the mechanism. */
  readonly why: string;
  check(model: Model): Iterable<Draft>;
}

const ORDER: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

/** Whether `severity` is at least as severe as `limit`. */
export function atLeast(severity: Severity, limit: Severity): boolean {
  return ORDER[severity] <= ORDER[limit];
}
