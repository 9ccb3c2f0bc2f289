/** Suppressions that silence nothing. The runner finds them. */

import type { Rule } from "../../finding.ts";

export const unusedSuppression: Rule = {
  id: "lint/unused-suppression",
  severity: "info",
  summary: "A suppression silences nothing.",
  why: "It would hide the next finding of its rule on that line.",
  check: () => [],
};
