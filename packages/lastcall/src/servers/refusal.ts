/** A clear no: 503, `Connection: close`, `Retry-After`, and a body that says draining. */

import type { IncomingMessage, ServerResponse } from "node:http";

const BODY = '{"error":"draining"}';

const HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "application/json",
  "Content-Length": String(BODY.length),
  "Retry-After": "1",
};

/**
 * Answers 503. Whether the head says `Connection: close` is decided by the wrapped `writeHead`; a body that is still on
 * its way is read on by the lingering close.
 */
export function refuseRequest(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(503, { ...HEADERS });
  response.end(request.method === "HEAD" ? undefined : BODY);
}

/** Ends an unfinished exchange whose head was not written. What the app had prepared for its own head is dropped. */
export function refuseUnanswered(response: ServerResponse): void {
  for (const name of response.getHeaderNames()) {
    response.removeHeader(name);
  }
  response.statusMessage = "Service Unavailable";
  response.writeHead(503, { ...HEADERS, Connection: "close" });
  response.end(response.req.method === "HEAD" ? undefined : BODY);
}

/** The same answer for a connection whose request never became one. */
export const RAW_REFUSAL: string = [
  "HTTP/1.1 503 Service Unavailable",
  "Connection: close",
  ...Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`),
  "",
  BODY,
].join("\r\n");
