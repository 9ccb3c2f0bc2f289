/** A mistake in lastcall.config.json. */

import type { Rule } from "../../finding.ts";

export const config: Rule = {
  id: "lint/config",
  severity: "error",
  summary: "lastcall.config.json has a setting that lint does not know or cannot read.",
  why: "A misspelt rule or duration would otherwise be ignored in silence.",
  *check(model) {
    for (const { message, at } of model.settings.problems) {
      yield { at, message };
    }
  },
};
