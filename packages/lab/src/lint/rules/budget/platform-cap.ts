/** Something above the manifest cuts the grace period. */

import type { Rule } from "../../finding.ts";
import { seconds } from "../../time.ts";

export const platformCap: Rule = {
  id: "budget/platform-cap",
  severity: "info",
  summary: "The grace period is longer than the platform ever grants.",
  why: "Fargate stops at 120 s, spot notices and node shutdown end earlier: the written time is then not the real one.",
  *check(model) {
    const policy = model.objects.find(({ name }) => name === "mutate-large-termination-gps");
    for (const { name, timer, platform } of model.workloads) {
      if (timer === undefined || timer.origin.kind !== "file") {
        continue;
      }
      const written = timer.writtenMs ?? timer.ms;
      const cap = model.settings.platformCap?.ms;
      if (timer.writtenMs !== undefined) {
        yield {
          at: timer.at,
          message: `${name} asks for ${seconds(written)}; the platform gives at most ${seconds(timer.ms)}.`,
        };
      } else if (cap !== undefined && written > cap) {
        yield {
          at: timer.at,
          message: `${name} asks for ${seconds(written)}; the configured platformCap is ${seconds(cap)}.`,
        };
      } else if (policy !== undefined && platform === "kubernetes" && written > 50_000) {
        yield {
          at: timer.at,
          message: `${name} asks for ${seconds(written)}; the policy ${policy.name} cuts it to 50 s.`,
          related: [{ message: "the policy", at: policy.at }],
        };
      }
    }
  },
};
