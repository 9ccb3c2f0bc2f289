/** The stop signal means something else to the program than "finish and leave". */

import type { Draft, Rule } from "../../finding.ts";
import { programOf } from "../../model/link.ts";
import type { Member, Program } from "../../model/workload.ts";
import type { Place } from "../../source.ts";

export const stopsignalMismatch: Rule = {
  id: "docker/stopsignal-mismatch",
  severity: "warning",
  summary: "The stop signal is not the one on which this program drains.",
  why: "SIGQUIT drains nginx and dumps core in Node; SIGTERM drains Node and cuts nginx's connections.",
  *check(model) {
    for (const { members, platform } of model.workloads) {
      for (const member of members.filter(() => platform !== "systemd" && platform !== "pm2")) {
        yield* check(member.program, member.stopSignal?.signal, member.stopSignal?.at, member.sources);
      }
    }
    for (const { program, stopSignal, facts, sources } of model.images) {
      yield* check(program, stopSignal?.signal ?? facts.stopSignal, stopSignal?.at, sources);
    }
  },
};

function* check(
  program: Program | undefined,
  given: string | undefined,
  at: Place | undefined,
  sources: Member["sources"],
): Iterable<Draft> {
  const name = program === undefined ? undefined : programOf(program.chain)?.name;
  if (program === undefined || name === undefined || given === "SIGKILL" || given === "SIGSTOP") {
    return;
  }
  const handled = new Set(sources.flatMap(({ signals }) => [...signals]));
  const signal = given ?? "SIGTERM";
  if (name === "node" && signal !== "SIGTERM" && signal !== "SIGINT" && !handled.has(signal)) {
    yield {
      at: at ?? program.at,
      message: `Node gets ${signal}, which ${signal === "SIGUSR1" ? "starts its inspector" : "no handler of the service catches"}. Use SIGTERM.`,
    };
  } else if (name === "java" && signal === "SIGQUIT") {
    yield { at: at ?? program.at, message: "SIGQUIT makes Java print its threads and run on. Use SIGTERM." };
  } else if (name === "nginx" && (signal === "SIGTERM" || signal === "SIGINT") && isKnown(program, given)) {
    yield {
      at: at ?? program.at,
      message: `${signal} is nginx's fast shutdown: requests in flight are cut. Use SIGQUIT.`,
    };
  }
}

/** The official images set a graceful signal; an image that is not known may, too. */
function isKnown(program: Program, given: string | undefined): boolean {
  return (
    given !== undefined ||
    (program.facts.official !== undefined &&
      /^(debian|ubuntu|alpine|fedora|rockylinux|almalinux|amazonlinux)$/.test(program.facts.official))
  );
}
