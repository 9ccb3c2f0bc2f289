/** A clear no: 503, `Connection: close`, `Retry-After`, and a body that says draining. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Host } from "../host.ts";

const BODY = '{"error":"draining"}';

const HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "application/json",
  "Content-Length": String(BODY.length),
  "Retry-After": "1",
};

/** How long an unread body is read on, so that closing does not reset the answer on its way. */
const LINGERING_CLOSE_MS = 1000;

/** Answers 503. Whether the head says `Connection: close` is decided by the wrapped `writeHead`. */
export function refuseRequest(host: Host, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(503, { ...HEADERS });
  if (request.complete || request.method === "HEAD") {
    response.end(request.method === "HEAD" ? undefined : BODY);
    return;
  }
  // The whole answer leaves now; the connection is closed when the body has been read. Closing with unread bytes in
  // the kernel would send a reset, which may overtake the answer.
  response.write(BODY);
  const finish = (): void => {
    cancel();
    response.end();
  };
  const cancel = host.setTimer(LINGERING_CLOSE_MS, finish, true);
  request.once("end", finish).once("close", cancel);
  request.resume();
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
