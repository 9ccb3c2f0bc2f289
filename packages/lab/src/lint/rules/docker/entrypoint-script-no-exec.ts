/** A start script in the build context that runs the service as its child. */

import type { Rule } from "../../finding.ts";
import { reached } from "../../model/link.ts";

export const entrypointScriptNoExec: Rule = {
  id: "docker/entrypoint-script-no-exec",
  severity: "error",
  summary: "A start script runs the service without `exec`.",
  why: "A shell that runs a script never replaces itself: SIGTERM ends or is ignored by the shell, not the service.",
  *check(model) {
    for (const { chain, platform } of model.programs) {
      for (const link of reached(chain)) {
        if (
          link.kind === "shell" &&
          link.role === "script" &&
          link.verdict === "stays" &&
          platform !== "systemd" &&
          platform !== "supervisor"
        ) {
          yield {
            at: link.at,
            message:
              "The script starts the service as its child. Write `exec` before it, or trap the signal, pass it on and wait.",
            ...(link.execAt === undefined
              ? {}
              : {
                  fix: {
                    title: "Write `exec` before the command",
                    edits: [{ at: link.execAt, text: "exec " }],
                  },
                }),
          };
        }
      }
    }
  },
};
