/** Node as PID 1 without a handler for SIGTERM. */

import type { Rule } from "../../finding.ts";

export const noSignalHandler: Rule = {
  id: "docker/no-signal-handler",
  severity: "info",
  summary: "Node is PID 1 and nothing in its start file handles SIGTERM.",
  why: "The kernel gives PID 1 no default action: an unhandled SIGTERM does nothing, and SIGKILL ends the service.",
  *check(model) {
    for (const { program, entry, sources, packageJson } of model.images) {
      const first = program?.chain[0];
      if (
        program === undefined ||
        first?.kind !== "program" ||
        first.name !== "node" ||
        entry === undefined
      ) {
        continue;
      }
      const handled =
        /SIGTERM|lastcall|enableShutdownHooks/.test(entry.text) ||
        sources.some(({ signals, usesLastcall }) => signals.has("SIGTERM") || usesLastcall) ||
        [...(packageJson?.dependencies ?? [])].some((name) => HANDLERS.has(name)) ||
        first.words.some((word) => word.text.includes("lastcall/auto"));
      if (!handled) {
        yield {
          at: program.at,
          message: `Nothing in ${entry.path} handles SIGTERM, and as PID 1 Node ignores it then. Handle it, or run under an init.`,
        };
      }
    }
  },
};

const HANDLERS = new Set(
  "lastcall @godaddy/terminus lightship close-with-grace http-terminator stoppable http-graceful-shutdown @nestjs/core next nuxt death exit-hook".split(
    " ",
  ),
);
