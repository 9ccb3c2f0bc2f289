/** A unit that stops its server the fast way. */

import type { Rule } from "../../finding.ts";
import { baseName } from "../../model/runners.ts";
import { normalSignal } from "../../model/images.ts";
import { setting, settingsOf } from "../../parse/systemd.ts";
import { killSignal, stopCommands, unitProgram } from "../stop-commands.ts";

export const fastStopSignal: Rule = {
  id: "systemd/fast-stop-signal",
  severity: "warning",
  summary: "The unit stops a server with its fast stop, which cuts requests in flight.",
  why: "nginx and HAProxy leave at once on SIGTERM, PostgreSQL aborts on SIGQUIT; each has another signal for a graceful stop.",
  *check(model) {
    for (const unit of model.units) {
      const name = unitProgram(unit, model) ?? "";
      const known = FAST[name];
      if (known === undefined) {
        continue;
      }
      const stops = settingsOf(unit, "Service.ExecStop");
      const bad = stops.find((line) =>
        stopCommands(line).some(
          (words) =>
            known.signals.includes(killSignal(words) ?? "") ||
            (baseName(words[0] ?? "") === "nginx" && words.includes("stop")),
        ),
      );
      const signal = setting(unit, "Service.KillSignal");
      if (bad !== undefined) {
        yield { at: bad.at, message: `This is the fast stop of ${name}: ${known.advice}` };
      } else if (signal !== undefined && known.signals.includes(normalSignal(signal.value))) {
        yield {
          at: signal.at,
          message: `${normalSignal(signal.value)} is the fast stop of ${name}: ${known.advice}`,
        };
      } else if (signal === undefined && stops.length === 0 && known.signals.includes("SIGTERM")) {
        yield {
          at: setting(unit, "Service.ExecStart")?.at ?? unit.at,
          severity: "info",
          message: `systemd stops with SIGTERM, the fast stop of ${name}: ${known.advice}`,
        };
      }
    }
  },
};

const FAST: Readonly<Record<string, { readonly signals: readonly string[]; readonly advice: string }>> = {
  nginx: { signals: ["SIGTERM", "SIGINT"], advice: "use KillSignal=SIGQUIT with KillMode=mixed." },
  haproxy: { signals: ["SIGTERM"], advice: "use KillSignal=SIGUSR1 with KillMode=mixed." },
  postgres: { signals: ["SIGQUIT"], advice: "use SIGINT (fast, but clean) or SIGTERM." },
};
