/** A file that was named and is none of ours. */

import type { Rule } from "../../finding.ts";
import { problemsOf } from "../ask.ts";

export const notRecognised: Rule = {
  id: "file/not-recognised",
  severity: "info",
  summary: "A file that was named on the command line is of no kind that lastcall reads.",
  why: "It was not checked.",
  *check(model) {
    yield* problemsOf(model, "file/not-recognised");
  },
};
