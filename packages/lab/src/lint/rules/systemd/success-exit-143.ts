/** A clean stop that counts as a failure. */

import type { Rule } from "../../finding.ts";
import { baseName } from "../../model/runners.ts";
import { execWords } from "../../model/unit-workload.ts";
import { setting, settingsOf } from "../../parse/systemd.ts";

export const successExit143: Rule = {
  id: "systemd/success-exit-143",
  severity: "info",
  summary: "Java and npm leave with 143 after SIGTERM, which systemd counts as a failure.",
  why: "systemd takes death by SIGTERM for clean, but not the exit code 143: the unit ends as failed.",
  *check(model) {
    for (const unit of model.units) {
      const start = setting(unit, "Service.ExecStart");
      const name = baseName(start === undefined ? "" : (execWords(start)[0]?.text ?? ""));
      const allowed = settingsOf(unit, "Service.SuccessExitStatus").some(({ value }) =>
        /\b(143|SIGTERM)\b/.test(value),
      );
      if (start !== undefined && (name === "java" || name === "npm") && !allowed) {
        yield {
          at: start.at,
          message: `${name} exits with 143 on SIGTERM and the unit ends as failed. Add SuccessExitStatus=143.`,
        };
      }
    }
  },
};
