/** The router lets a request take longer than the service waits for it while it drains. */

import type { Rule } from "../../finding.ts";
import type { Model } from "../../model/model.ts";
import type { Workload } from "../../model/workload.ts";
import { find } from "../../parse/nginx.ts";
import type { Place } from "../../source.ts";
import { haproxyDuration, nginxDuration, originText, seconds } from "../../time.ts";

export const requestOutlivesGraceful: Rule = {
  id: "budget/request-outlives-graceful",
  severity: "warning",
  summary: "The router allows requests that last longer than the graceful timeout.",
  why: "A request that the router still waits for is cut when the graceful timeout is over.",
  *check(model) {
    for (const { at, ms, label, workloads } of limits(model)) {
      for (const { name, members } of workloads) {
        for (const { parts } of members) {
          const { graceful } = parts;
          if (graceful !== undefined && parts.chosen && ms > graceful.ms) {
            yield {
              at,
              message: `${label} allows ${seconds(ms)}; ${name} waits ${seconds(graceful.ms)} for its requests (${originText(graceful.origin)}).`,
            };
          }
        }
      }
    }
  },
};

interface Limit {
  readonly at: Place;
  readonly ms: number;
  readonly label: string;
  readonly workloads: readonly Workload[];
}

/** Only limits that somebody wrote: a default is a ceiling, not a duration. */
function* limits(model: Model): Iterable<Limit> {
  const behind = (path: string): readonly Workload[] =>
    model.routers.find((router) => router.path === path)?.workloads ?? [];
  for (const file of model.nginx) {
    for (const { directive } of find(file.directives, "proxy_read_timeout")) {
      const ms = nginxDuration(directive.args[0] ?? "");
      if (ms !== undefined) {
        yield { at: directive.at, ms, label: "proxy_read_timeout", workloads: behind(file.source.path) };
      }
    }
  }
  for (const file of model.haproxy) {
    for (const { lines } of file.sections) {
      for (const { words, at } of lines) {
        const ms =
          words[0] === "timeout" && words[1] === "server" ? haproxyDuration(words[2] ?? "") : undefined;
        if (ms !== undefined) {
          yield { at, ms, label: "timeout server", workloads: behind(file.source.path) };
        }
      }
    }
  }
}
