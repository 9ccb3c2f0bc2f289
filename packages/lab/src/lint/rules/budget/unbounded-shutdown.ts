/** Nothing but SIGKILL ends the wait for requests in flight. */

import type { Rule } from "../../finding.ts";
import { programOf } from "../../model/link.ts";
import { baseName } from "../../model/runners.ts";
import { place } from "../../source.ts";

export const unboundedShutdown: Rule = {
  id: "budget/unbounded-shutdown",
  severity: "warning",
  summary: "The service waits for its requests without a limit of its own.",
  why: "One slow request or idle connection keeps it until SIGKILL, which also cuts the work that would have finished.",
  *check(model) {
    for (const { members } of model.workloads) {
      for (const { sources, program } of members) {
        for (const source of sources) {
          if (
            source.signals.has("SIGTERM") &&
            source.closesOnly &&
            !source.usesLastcall &&
            !sources.some((one) => one.usesLastcall)
          ) {
            const at = /["']SIGTERM["']/.exec(source.source.text)?.index ?? 0;
            yield {
              at: place(source.source, at, at + 9),
              message:
                "The SIGTERM handler closes the server and waits for ever: give it a limit shorter than the grace period.",
            };
          }
        }
        const words =
          program?.chain.at(-1)?.kind === "program" ? (programOf(program.chain)?.words ?? []) : [];
        const uvicorn = words.slice(0, 4).find((word) => baseName(word.text) === "uvicorn");
        if (
          uvicorn !== undefined &&
          !words.some((word) => word.text.startsWith("--timeout-graceful-shutdown"))
        ) {
          yield {
            at: uvicorn.at,
            severity: "info",
            message:
              "uvicorn waits for its connections without a limit unless --timeout-graceful-shutdown is given.",
          };
        }
      }
    }
  },
};
