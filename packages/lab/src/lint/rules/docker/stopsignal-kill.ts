/** A stop signal that cannot be handled. */

import type { Rule } from "../../finding.ts";
import { type Place, place, slice, where } from "../../source.ts";

export const stopsignalKill: Rule = {
  id: "docker/stopsignal-kill",
  severity: "error",
  summary: "The stop signal is SIGKILL or SIGSTOP.",
  why: "No process can handle it: there is no drain at all.",
  *check(model) {
    const places = new Map<string, { at: Place; signal: string }>();
    const add = (at: Place | undefined, signal: string): void => {
      if (at !== undefined && (signal === "SIGKILL" || signal === "SIGSTOP")) {
        places.set(where(at), { at, signal });
      }
    };
    for (const { stopSignal } of model.images) {
      add(stopSignal?.at, stopSignal?.signal ?? "");
    }
    for (const { members } of model.workloads) {
      for (const { stopSignal } of members) {
        add(stopSignal?.at, stopSignal?.signal ?? "");
      }
    }
    for (const { at, signal } of places.values()) {
      const written = /SIGKILL|SIGSTOP|KILL|STOP|\b(9|19)\b/.exec(
        slice(at).replace(/^\w+=/, (key) => " ".repeat(key.length)),
      );
      const start = at.start + (written?.index ?? 0);
      yield {
        at,
        message: `${signal} cannot be handled: the service is killed at once on every stop.`,
        ...(written === null
          ? {}
          : {
              fix: {
                title: "Use SIGTERM",
                edits: [{ at: place(at.source, start, start + written[0].length), text: "SIGTERM" }],
              },
            }),
      };
    }
  },
};
