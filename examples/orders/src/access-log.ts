/**
 * The access log: a START line when a request reaches the service and a FINISH line when its answer is out, or CUT when
 * the connection was gone before that. A request that was killed has a START and nothing else.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { openLines } from "./lines.ts";

export interface AccessLog {
  /** Notes this request's beginning now and its end when it comes. */
  observe(req: IncomingMessage, res: ServerResponse): void;
  readonly counts: { readonly accepted: number; readonly inFlight: number };
}

export function openAccessLog(file: string | undefined): AccessLog {
  const lines = openLines(file);
  const counts = { accepted: 0, inFlight: 0 };
  const line = (word: string, rest: string): void =>
    lines.write(`${new Date().toISOString()} ${word} ${rest}`);
  return {
    counts,
    observe(req, res) {
      counts.accepted += 1;
      counts.inFlight += 1;
      const name = `#${counts.accepted} ${req.method ?? ""} ${req.url ?? ""}`;
      const began = performance.now();
      line("START", name);
      res.once("close", () => {
        counts.inFlight -= 1;
        const end = res.writableFinished ? "FINISH" : "CUT";
        line(end, `${name} ${res.statusCode} ${Math.round(performance.now() - began)}ms`);
      });
    },
  };
}
