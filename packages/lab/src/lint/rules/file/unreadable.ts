/** A file that cannot be opened or is not text. */

import type { Rule } from "../../finding.ts";
import { problemsOf } from "../ask.ts";

export const unreadable: Rule = {
  id: "file/unreadable",
  severity: "error",
  summary: "A file cannot be opened, or is binary.",
  why: "It was not checked.",
  *check(model) {
    yield* problemsOf(model, "file/unreadable");
  },
};
