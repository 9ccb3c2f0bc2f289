/** A file that is not what its name says. */

import type { Rule } from "../../finding.ts";
import { problemsOf } from "../ask.ts";

export const broken: Rule = {
  id: "file/broken",
  severity: "error",
  summary: "A file cannot be parsed.",
  why: "What cannot be read is not checked, and the platform will not read it either.",
  *check(model) {
    yield* problemsOf(model, "file/broken");
  },
};
