/** A probe's own grace period. */

import { appMs } from "../../budget.ts";
import type { Rule } from "../../finding.ts";
import { graceOf } from "../../model/kubernetes.ts";
import { get, number } from "../../parse/tree.ts";
import { seconds } from "../../time.ts";

export const probeGrace: Rule = {
  id: "k8s/probe-grace",
  severity: "error",
  summary: "A probe's terminationGracePeriodSeconds is too short, too long, or on a readiness probe.",
  why: "After a failed liveness or startup probe it replaces the pod's; the API refuses it on readiness.",
  *check(model) {
    for (const workload of model.workloads) {
      const { pod, members } = workload;
      for (const member of pod === undefined ? [] : members) {
        const { container } = member;
        for (const [key, probe] of [
          ["readiness", container?.readiness],
          ["liveness", container?.liveness],
          ["startup", container?.startup],
        ] as const) {
          const value = get(probe?.tree, "terminationGracePeriodSeconds");
          const limit = number(value);
          if (value === undefined || limit === undefined || pod === undefined) {
            continue;
          }
          const app = appMs(member);
          if (key === "readiness") {
            yield {
              at: value.at,
              message: "A readiness probe does not kill: the API refuses a grace period on it.",
            };
          } else if (app !== undefined && limit * 1000 < app) {
            yield {
              at: value.at,
              severity: "warning",
              message: `After a failed ${key} probe the service has ${limit} s; it needs ${seconds(app)}.`,
            };
          } else if (limit * 1000 > graceOf(pod).ms) {
            yield {
              at: value.at,
              severity: "warning",
              message: `A failed ${key} probe gives ${limit} s, more than a deletion does (${seconds(graceOf(pod).ms)}).`,
            };
          }
        }
      }
    }
  },
};
