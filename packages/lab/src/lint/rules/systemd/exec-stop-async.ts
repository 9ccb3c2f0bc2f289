/** An ExecStop that asks for a graceful stop and returns, so that systemd's own signal ends it. */

import type { Rule } from "../../finding.ts";
import { baseName } from "../../model/runners.ts";
import { normalSignal } from "../../model/images.ts";
import { setting, settingsOf } from "../../parse/systemd.ts";
import { killSignal, stopCommands, unitProgram } from "../stop-commands.ts";

export const execStopAsync: Rule = {
  id: "systemd/exec-stop-async",
  severity: "warning",
  summary: "ExecStop asks for a graceful stop and returns at once.",
  why: "When ExecStop has returned, systemd sends KillSignal to what is left: the drain just begun is cut.",
  *check(model) {
    for (const unit of model.units) {
      const name = unitProgram(unit, model) ?? "";
      const graceful = GRACEFUL[name];
      const kill = normalSignal(setting(unit, "Service.KillSignal")?.value ?? "SIGTERM");
      if (graceful === undefined || kill === graceful) {
        continue;
      }
      const line = settingsOf(unit, "Service.ExecStop").find((one) => {
        const commands = stopCommands(one);
        const waits = commands.some((words) =>
          /^(sleep|wait|timeout|tail|while)$/.test(baseName(words[0] ?? "")),
        );
        return (
          !waits &&
          commands.some(
            (words) =>
              killSignal(words) === graceful ||
              (baseName(words[0] ?? "") === "nginx" && words.includes("quit")),
          )
        );
      });
      if (line !== undefined) {
        yield {
          at: line.at,
          message: `${graceful} begins the drain and returns; ${kill} follows at once and ends it. Drop ExecStop and set KillSignal=${graceful}.`,
        };
      }
    }
  },
};

const GRACEFUL: Readonly<Record<string, string>> = { nginx: "SIGQUIT", haproxy: "SIGUSR1" };
