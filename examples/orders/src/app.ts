/** From a request to its route: the copy's name on every answer, the access log around it, errors as answers. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AccessLog } from "./access-log.ts";
import { answerJson, HttpError } from "./http-answer.ts";
import type { Note } from "./lines.ts";
import type { Route } from "./routes.ts";

/** Settles when the handler is through, which may be later than its answer. */
export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export function createApp(routes: ReadonlyMap<string, Route>, accessLog: AccessLog, note: Note): Handler {
  return async (req, res) => {
    accessLog.observe(req, res);
    nameCopy(res);
    try {
      const url = new URL(req.url ?? "/", "http://orders");
      const route = routes.get(`${req.method ?? ""} ${url.pathname}`);
      if (route === undefined) throw new HttpError(404, "not found");
      await route({ req, res, query: url.searchParams });
    } catch (error) {
      if (!(error instanceof HttpError)) note("error", { error: String(error) });
      if (res.headersSent) res.destroy();
      else if (error instanceof HttpError) answerJson(res, error.status, { error: error.message });
      else answerJson(res, 500, { error: "internal error" });
    }
  };
}

/** Which of several copies answered. */
export function nameCopy(res: ServerResponse): void {
  res.setHeader("x-lastcall-copy", process.env["COPY"] ?? String(process.pid));
}
