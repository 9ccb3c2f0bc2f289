/** Probes written by hand, for the builds without the library: alive and ready until the process is gone. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AccessLog } from "./access-log.ts";
import { nameCopy } from "./app.ts";
import { answerJson } from "./http-answer.ts";

/** True when the request was a probe and has its answer. */
export type Probes = (req: IncomingMessage, res: ServerResponse) => boolean;

export function handWrittenProbes(counts: AccessLog["counts"]): Probes {
  const answers = new Map<string, () => unknown>([
    ["/health", () => ({ ok: true })],
    ["/ready", () => ({ ready: true })],
    ["/statez", () => ({ state: "serving", requests: counts })],
  ]);
  return (req, res) => {
    const answer = answers.get((req.url ?? "").split("?", 1)[0] ?? "");
    if (answer === undefined || req.method !== "GET") return false;
    nameCopy(res);
    answerJson(res, 200, answer());
    return true;
  };
}
