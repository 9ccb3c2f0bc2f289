/** The probes that the app answers itself: while it serves they are no work, and from the stop on its readiness says no. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { ProbePaths } from "./options.ts";
import { probeAt, type Probe } from "./probes.ts";
import { listenBeside } from "./servers/beside.ts";

/** Runs after the lifecycle's own listener and before the app's. */
export function noteProbes(
  server: Server,
  paths: ProbePaths,
  note: (request: IncomingMessage, probe: Probe) => void,
): void {
  listenBeside(server, "request", (request: IncomingMessage) => {
    const probe = probeAt(request.url ?? "", { live: "", state: "", ready: "", ...paths });
    if (probe !== null) {
      note(request, probe);
    }
  });
}

/** From the stop on, the app's own readiness path says no; until then the app answers it. */
export function denyReadiness(server: Server, ready: string): void {
  const emit = server.emit as (event: string | symbol, ...args: unknown[]) => boolean;
  server.emit = function denying(this: Server, event: string | symbol, ...args: unknown[]): boolean {
    const request = args[0] as IncomingMessage;
    if (event !== "request" || probeAt(request.url ?? "", { live: "", state: "", ready }) !== "ready") {
      return Reflect.apply(emit, this, [event, ...args]);
    }
    const response = args[1] as ServerResponse;
    response.writeHead(503, { "Content-Type": "application/json", "Cache-Control": "no-store" });
    response.end(request.method === "HEAD" ? undefined : '{"ready":false}\n');
    return true;
  } as Server["emit"];
}
