/** A router that asks finds out later than the service stops serving. */

import type { Rule } from "../../finding.ts";
import { backends, isChecked, serverField } from "../backends.ts";
import { haproxyDuration, seconds } from "../../time.ts";

export const routerSlowerThanDrain: Rule = {
  id: "budget/router-slower-than-drain",
  severity: "error",
  summary: "The router's health check notices the drain later than the drain delay ends.",
  why: "A router that polls goes on sending for interval times fall; after the drain delay those requests are refused.",
  *check(model) {
    for (const file of model.haproxy) {
      const router = model.routers.find(({ path }) => path === file.source.path);
      for (const backend of backends(file)) {
        for (const server of backend.servers.filter((one) => isChecked(backend, one))) {
          const inter = haproxyDuration(serverField(backend, server, "inter") ?? "2000") ?? 2000;
          const fall = Number(serverField(backend, server, "fall") ?? 3);
          for (const { name, members } of router?.workloads ?? []) {
            for (const { parts } of members.filter((one) =>
              (server.words[2] ?? "").startsWith(`${one.name}:`),
            )) {
              const delay = parts.drainDelay;
              if (delay !== undefined && inter * fall > delay.ms) {
                yield {
                  at: server.at,
                  message: `HAProxy needs ${seconds(inter * fall)} (inter ${seconds(inter)}, fall ${fall}) to notice; ${name} serves for ${seconds(delay.ms)} after the stop signal.`,
                  ...(delay.origin.kind === "file"
                    ? { related: [{ message: "the drain delay", at: delay.origin.at }] }
                    : {}),
                };
              }
            }
          }
        }
      }
    }
  },
};
