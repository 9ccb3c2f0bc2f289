/** A template, not yet a manifest. */

import type { Rule } from "../../finding.ts";
import { problemsOf } from "../ask.ts";

export const template: Rule = {
  id: "file/template",
  severity: "info",
  summary: "Templates with {{ }} are not checked; their rendered output is.",
  why: "What the values make of it is not known before it is rendered.",
  *check(model) {
    yield* problemsOf(model, "file/template");
  },
};
