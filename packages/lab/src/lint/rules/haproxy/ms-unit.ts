/** Milliseconds where seconds were meant. */

import type { Rule } from "../../finding.ts";

export const msUnit: Rule = {
  id: "haproxy/ms-unit",
  severity: "warning",
  summary: "A timeout has no unit and is very small: HAProxy reads it as milliseconds.",
  why: "`timeout server 30` cuts every answer that takes more than 30 ms.",
  *check(model) {
    for (const file of model.haproxy) {
      for (const { lines } of file.sections) {
        for (const { words, at } of lines) {
          const bare =
            words[0] === "timeout" ? words[2] : words[0] === "hard-stop-after" ? words[1] : undefined;
          if (bare !== undefined && /^\d+$/.test(bare) && Number(bare) > 0 && Number(bare) < 100) {
            yield {
              at,
              message: `${words.slice(0, -1).join(" ")} is ${bare} milliseconds. Write ${bare}s if seconds are meant.`,
            };
          }
        }
      }
    }
  },
};
