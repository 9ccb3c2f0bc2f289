/** A CMD beside an ENTRYPOINT in text form. */

import type { Rule } from "../../finding.ts";

export const cmdIgnored: Rule = {
  id: "docker/cmd-ignored",
  severity: "warning",
  summary: "CMD has no effect because ENTRYPOINT is in text form.",
  why: "The text form takes no arguments, so CMD and the arguments of `docker run` are dropped.",
  *check(model) {
    for (const { entrypoint, command } of model.images) {
      if (
        entrypoint !== undefined &&
        entrypoint.words === undefined &&
        command !== undefined &&
        command.at.start > entrypoint.at.start
      ) {
        yield {
          at: command.at,
          message: "This CMD is ignored: ENTRYPOINT is in text form.",
          related: [{ message: "the ENTRYPOINT", at: entrypoint.at }],
        };
      }
    }
  },
};
