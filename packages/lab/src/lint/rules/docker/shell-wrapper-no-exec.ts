/** `sh -c` around the service without `exec`. */

import type { Fix, Rule } from "../../finding.ts";
import type { Model } from "../../model/model.ts";
import type { Program } from "../../model/workload.ts";
import { setting } from "../../parse/systemd.ts";

export const shellWrapperNoExec: Rule = {
  id: "docker/shell-wrapper-no-exec",
  severity: "error",
  summary: "`sh -c` starts the service without `exec`.",
  why: "The signal goes to the shell, which keeps it: the service runs on until SIGKILL.",
  *check(model) {
    for (const program of model.programs) {
      const chain = program.chain;
      for (const [index, link] of chain.entries()) {
        if (
          link.kind !== "shell" ||
          link.role !== "wrapper" ||
          chain[index - 1]?.kind === "init" ||
          skipsUnit(program, model)
        ) {
          continue;
        }
        const fix: { fix?: Fix } =
          link.execAt === undefined
            ? {}
            : {
                fix: {
                  title: "Write `exec` before the last command",
                  edits: [{ at: link.execAt, text: "exec " }],
                },
              };
        const from =
          link.shell === "dash" || link.shell === "ash" || link.shell === "bash"
            ? `the shell is ${link.shell}`
            : program.facts.shellFrom;
        if (link.verdict === "stays") {
          yield {
            at: link.at,
            message: `The shell keeps SIGTERM from the service (${from}). Write \`exec\` before the command that is the service.`,
            ...fix,
          };
        } else if (link.verdict === "replaced") {
          yield {
            at: link.at,
            severity: "info",
            message: `This works only because ${link.shell} replaces itself. Write \`exec\` before the command.`,
            ...fix,
          };
        } else if (link.verdict === "unknown" && link.plain && program.platform !== "systemd") {
          yield {
            at: link.at,
            severity: "warning",
            message: `Whether SIGTERM reaches the service depends on the shell, and ${program.facts.shellFrom}. Write \`exec\` before the command.`,
            ...fix,
          };
        }
        break;
      }
    }
  },
};

/** systemd signals every process of the unit, unless told to signal the main one only; supervisors likewise by group. */
function skipsUnit(program: Program, model: Model): boolean {
  if (program.platform === "supervisor" || program.platform === "pm2") {
    return true;
  }
  const unit = model.workloads.find(({ members }) =>
    members.some((member) => member.program === program),
  )?.unit;
  return unit !== undefined && !["mixed", "process"].includes(setting(unit, "Service.KillMode")?.value ?? "");
}
