/** A clear no: 503, `Connection: close`, `Retry-After`, and a body that says draining. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { CROWD } from "./crowd.ts";

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

/**
 * The same end for one of a crowd: the answer is written and its connection left to the exit, which comes at once. Ending a
 * thousand connections one by one takes 200 ms. False where that is not enough: a HEAD, a body still on its way, an answer
 * that waits behind another one's.
 */
export function refuseInCrowd(response: ServerResponse, crowd: number): boolean {
  const { socket, req } = response;
  if (crowd <= CROWD || socket === null || req.method === "HEAD" || !req.complete) {
    return false;
  }
  // What the app still writes goes nowhere.
  response.detachSocket(socket);
  socket.write(RAW_REFUSAL);
  return true;
}
