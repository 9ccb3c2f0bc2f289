/** An init whose direct child is a shell that does not make way. */

import type { Rule } from "../../finding.ts";

export const initChildIsShell: Rule = {
  id: "docker/init-child-is-shell",
  severity: "error",
  summary: "tini, dumb-init or --init has a shell as its child.",
  why: "The shell dies on SIGTERM, the init leaves with it, and the service is killed: measured within 100 ms, with -g too.",
  *check(model) {
    for (const { chain, at } of model.programs) {
      for (const [index, link] of chain.entries()) {
        const child = chain[index + 1];
        if (link.kind === "init" && child?.kind === "shell" && child.verdict === "stays") {
          yield {
            at,
            message: `${link.name} signals ${link.group ? "the group but leaves with" : "only"} its child, ${child.role === "script" ? "a start script" : "a shell"} that stays. Make the service the child (\`exec\`).`,
            related: [{ message: "the service starts here", at: child.at }],
          };
        }
      }
    }
  },
};
