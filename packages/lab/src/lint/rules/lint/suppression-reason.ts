/** Findings that are silenced without saying why. The runner finds them, because it applies suppressions. */

import type { Rule } from "../../finding.ts";

export const suppressionReason: Rule = {
  id: "lint/suppression-reason",
  severity: "warning",
  summary: "A suppression has no reason or names no rule.",
  why: "The next reader cannot tell whether it still holds; it is not applied.",
  check: () => [],
};
