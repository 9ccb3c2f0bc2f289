/** Something that a run shows without a lost request. */

import type { KindSlug } from "./kinds.ts";
import type { Confidence } from "./verdict.ts";

export interface Finding {
  readonly kind: KindSlug;
  readonly confidence: Confidence;
  /** Whether a verdict with it must fail. */
  readonly fails: boolean;
  readonly evidence: string;
  readonly atMs: number;
  /** Indices into the timeline's restarts. */
  readonly restarts: readonly number[];
}

/** Before it is known where it was seen. */
export type Told = Omit<Finding, "restarts">;
