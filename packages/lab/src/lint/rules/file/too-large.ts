/** A file beyond any configuration's size. */

import type { Rule } from "../../finding.ts";
import { problemsOf } from "../ask.ts";

export const tooLarge: Rule = {
  id: "file/too-large",
  severity: "warning",
  summary: "A file is larger than 5 MB.",
  why: "It was not checked: configuration files of that size are generated or not configuration.",
  *check(model) {
    yield* problemsOf(model, "file/too-large");
  },
};
