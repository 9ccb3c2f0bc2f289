/** A supervisor inside the container or unit has a kill timer of its own that does not nest in the outer one. */

import type { Draft, Rule } from "../../finding.ts";
import { baseName } from "../../model/runners.ts";
import type { Member, Workload } from "../../model/workload.ts";
import { settingsOf } from "../../parse/systemd.ts";
import { stopCommands } from "../stop-commands.ts";
import { seconds } from "../../time.ts";

export const innerSupervisor: Rule = {
  id: "budget/inner-supervisor",
  severity: "error",
  summary:
    "A kill timer inside does not fit inside the platform's timer, or is shorter than the service needs.",
  why: "Whichever timer ends first kills: the inner one must be longer than the service and shorter than the outer one.",
  *check(model) {
    for (const outer of model.workloads) {
      for (const { sources, image, program, parts } of outer.members) {
        const manager = program?.chain.find((link) => link.kind === "runner" && link.role === "pm2");
        if (manager !== undefined && outer.timer !== undefined) {
          const folder = image?.dockerfile.folder ?? "\u0000";
          const inner = model.workloads.filter(
            (one) =>
              one.platform === "pm2" && one.at.source.path.split("/").slice(0, -1).join("/") === folder,
          );
          for (const { timer } of inner) {
            if (timer !== undefined && timer.ms >= outer.timer.ms) {
              yield {
                at: timer.at,
                message: `pm2's kill_timeout of ${seconds(timer.ms)} is not shorter than ${outer.timer.name} of ${outer.name} (${seconds(outer.timer.ms)}).`,
              };
            }
          }
          const app = [parts.drainDelay, parts.graceful, parts.teardown].reduce(
            (sum, time) => sum + (time?.ms ?? 0),
            0,
          );
          const killed = process1600(sources, inner.length, app);
          if (killed) {
            yield {
              at: manager.at,
              message: `pm2 kills after 1.6 s (its default kill_timeout); the service needs ${seconds(app)}. Set kill_timeout or PM2_KILL_TIMEOUT.`,
            };
          }
        }
      }
      yield* dockerStop(outer);
    }
  },
};

/** pm2 without an ecosystem file keeps its default of 1600 ms. */
function process1600(sources: Member["sources"], ecosystems: number, appMs: number): boolean {
  return sources.length > 0 && ecosystems === 0 && appMs > 1600;
}

function* dockerStop({ unit, timer, name }: Workload): Iterable<Draft> {
  for (const line of unit === undefined ? [] : settingsOf(unit, "Service.ExecStop")) {
    for (const words of stopCommands(line)) {
      const isStop = /^(docker|podman)$/.test(baseName(words[0] ?? "")) && words[1] === "stop";
      const flag = words.findIndex((word) => /^(-t|--time|--timeout)$/.test(word));
      const inline = words.find((word) => /^(-t|--time=|--timeout=)\d+$/.test(word))?.replace(/^\D+/, "");
      const given = inline ?? (flag === -1 ? undefined : words[flag + 1]);
      const ms = given === undefined ? 10_000 : Number(given) * 1000;
      if (isStop && timer !== undefined && ms >= timer.ms) {
        yield {
          at: line.at,
          message: `The stop of the container may take ${seconds(ms)}; ${name} has ${seconds(timer.ms)} for each ExecStop command (TimeoutStopSec).`,
        };
      }
    }
  }
}
