/** npm, yarn or pnpm between the signal and the service. */

import type { Rule, Severity } from "../../finding.ts";
import { type Link, reached } from "../../model/link.ts";

export const packageManagerPid1: Rule = {
  id: "docker/package-manager-pid1",
  severity: "error",
  summary: "A package manager starts the service and does not pass SIGTERM on.",
  why: "npm signals only its shell, yarn 1 does not wait, pnpm up to 10 hangs as PID 1: the service is killed unfinished.",
  *check(model) {
    for (const { chain, platform } of model.programs) {
      if (platform === "systemd" || platform === "pm2" || platform === "supervisor") {
        continue;
      }
      const links = reached(chain);
      for (const [index, link] of links.entries()) {
        if (link.kind === "package-manager") {
          const shell = links[index + 1];
          const severity = verdictOf(link, shell?.kind === "shell" ? shell.verdict : undefined);
          if (severity !== undefined) {
            yield {
              at: link.at,
              severity,
              message:
                `${link.name} ${link.script ?? ""} stands between SIGTERM and the service${severity === "warning" ? " and may not pass it on" : " and does not pass it on"}. Start the program directly, or put \`exec\` into the script.`.replace(
                  "  ",
                  " ",
                ),
            };
          }
        }
      }
    }
  },
};

/** Measured for npm 11, yarn 1.22 and pnpm 10; what was not measured is not accused. */
function verdictOf(
  link: Link & { kind: "package-manager" },
  shell: "exec" | "replaced" | "stays" | "unknown" | undefined,
): Severity | undefined {
  const runs =
    link.script !== undefined && !/^(install|ci|exec|dlx|x|add|init|build|config)$/.test(link.script);
  if (!runs) {
    return undefined;
  }
  switch (link.name) {
    case "npm":
      return shell === "exec" ? undefined : shell === "stays" ? "error" : "warning";
    case "yarn":
      return link.major === undefined ? "warning" : link.major === 1 ? "error" : undefined;
    case "pnpm":
      return link.major === undefined ? "warning" : link.major <= 10 ? "error" : undefined;
    default:
      return undefined;
  }
}
