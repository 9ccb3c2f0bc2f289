/** A soft stop without an end. */

import type { Rule } from "../../finding.ts";
import { lineOfSection } from "../../parse/haproxy.ts";

export const noHardStopAfter: Rule = {
  id: "haproxy/no-hard-stop-after",
  severity: "info",
  summary: "HAProxy has no hard-stop-after.",
  why: "A soft stop waits for every connection without a limit; old processes pile up over reloads.",
  *check(model) {
    for (const file of model.haproxy) {
      const global = file.sections.find(({ type }) => type === "global");
      if (global !== undefined && lineOfSection(global, "hard-stop-after") === undefined) {
        yield {
          at: global.at,
          message: "A soft stop (SIGUSR1) waits for ever. Set hard-stop-after below the time until SIGKILL.",
        };
      }
    }
  },
};
