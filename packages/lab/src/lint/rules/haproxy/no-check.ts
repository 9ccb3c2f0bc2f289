/** Servers that nobody asks. */

import type { Rule } from "../../finding.ts";
import { backends, isChecked } from "../backends.ts";

export const noCheck: Rule = {
  id: "haproxy/no-check",
  severity: "error",
  summary: "A backend with several servers does not check them.",
  why: "HAProxy then takes a server for up until it is told otherwise, and goes on sending to one that has stopped.",
  *check(model) {
    for (const file of model.haproxy) {
      for (const backend of backends(file)) {
        const live = backend.servers.filter(({ words }) => !words.includes("disabled"));
        const unchecked = live.find((server) => !isChecked(backend, server));
        if (live.length > 1 && unchecked !== undefined) {
          yield {
            at: unchecked.at,
            message: `${unchecked.words[1] ?? "The server"} of ${backend.section.name} has no \`check\`: HAProxy sends to it even when it is gone.`,
          };
        }
      }
    }
  },
};
