/** The probes over HTTP: mounted on the app's own server, or on an admin port that closes last. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { LastcallError } from "../errors.ts";
import type { ProbePaths } from "../options.ts";
import { ADMIN_SERVER } from "../registry.ts";
import { answerProbe, probeAt, type Probe, type ProbeView } from "../probes.ts";

/** A request of HTTP/1.1, or of HTTP/2's request API. */
export type ProbeRequest = IncomingMessage | Http2ServerRequest;
export type ProbeResponse = ServerResponse | Http2ServerResponse;

/** Answers a probe and returns true; else calls `next`, where given, and returns false. */
export type ProbeHandler = (request: ProbeRequest, response: ProbeResponse, next?: () => void) => boolean;

export function makeProbeHandler(
  paths: ProbePaths,
  view: ProbeView,
  onProbe: (request: ProbeRequest, probe: Probe) => void,
): ProbeHandler {
  return (request, response, next) => {
    const probe =
      request.method === "GET" || request.method === "HEAD" ? probeAt(request.url ?? "", paths) : null;
    if (probe === null) {
      next?.();
      return false;
    }
    onProbe(request, probe);
    const answer = answerProbe(probe, view);
    const body = `${JSON.stringify(answer.body)}\n`;
    // Both have this shape of `writeHead`; only their types do not say so together.
    (response as ServerResponse).writeHead(answer.status, {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      "Cache-Control": "no-store",
    });
    (response as ServerResponse).end(request.method === "HEAD" ? undefined : body);
    return true;
  };
}

/** Listens with nothing but the probes. An error of the port ends the process: a service without probes is not watched. */
export function openAdminPort(
  port: number,
  host: string | undefined,
  handler: ProbeHandler,
  fail: (error: LastcallError) => void,
): Server {
  const server = createServer((request, response) => {
    if (!handler(request, response)) {
      response.writeHead(404, { "Content-Type": "application/json" }).end('{"error":"not found"}\n');
    }
  });
  server.on("error", (error: NodeJS.ErrnoException) => {
    fail(
      new LastcallError("LASTCALL_ADMIN_PORT", `The admin port ${port} cannot be used: ${error.message}.`, {
        cause: error,
      }),
    );
  });
  Object.assign(server, { [ADMIN_SERVER]: true });
  server.listen(port, host);
  return server;
}
