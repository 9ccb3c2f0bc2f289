/** The service answers 503 in its drain, and nginx hands it on. */

import type { Rule } from "../../finding.ts";
import type { Model } from "../../model/model.ts";
import type { Member } from "../../model/workload.ts";
import { passes } from "../upstreams.ts";

export const nextUpstreamNo503: Rule = {
  id: "nginx/next-upstream-no-503",
  severity: "info",
  summary: "The service answers 503 while it drains, and nginx does not try another server then.",
  why: "proxy_next_upstream is `error timeout` by default: a 503 goes to the client.",
  *check(model) {
    for (const file of model.nginx) {
      const behind = model.routers.find(({ path }) => path === file.source.path)?.workloads ?? [];
      const answers = behind.find(({ members }) => members.some((member) => answers503(member, model)));
      for (const { pass, target, setting } of answers === undefined ? [] : passes(file)) {
        const set = setting("proxy_next_upstream");
        if (target !== undefined && target.servers.length > 1 && set?.args.includes("http_503") !== true) {
          yield {
            at: set?.at ?? pass.at,
            message: `${answers?.name ?? ""} answers 503 in its drain; add http_503 to proxy_next_upstream.`,
          };
        }
      }
    }
  },
};

function answers503(member: Member, model: Model): boolean {
  return (
    (model.settings.budgets.get(member.name) ?? model.settings.budgets.get("*"))?.answers503 === true ||
    member.environment.get("LASTCALL_ADMISSION")?.value === "respond" ||
    member.sources.some(({ admission }) => admission === "respond")
  );
}
