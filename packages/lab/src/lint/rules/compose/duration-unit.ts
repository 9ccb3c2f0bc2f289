/** A Compose duration without a unit. */

import type { Rule } from "../../finding.ts";
import { get, text } from "../../parse/tree.ts";
import { slice } from "../../source.ts";

export const durationUnit: Rule = {
  id: "compose/duration-unit",
  severity: "error",
  summary: "stop_grace_period has no unit.",
  why: "Compose refuses a duration without a unit, and older versions read it as nanoseconds.",
  *check(model) {
    for (const { tree } of model.services) {
      const value = get(tree, "stop_grace_period");
      const written = text(value);
      if (value !== undefined && written !== undefined && /^\d+(\.\d+)?$/.test(written) && written !== "0") {
        const inner = slice(value.at).replace(written, `${written}s`);
        yield {
          at: value.at,
          message: `stop_grace_period: ${written} needs a unit, such as ${written}s.`,
          fix: { title: "Add the unit", edits: [{ at: value.at, text: inner }] },
        };
      }
    }
  },
};
