/** What most tutorials say: on SIGTERM close the server, and exit when its connections are gone. */

import { createServer, type Server } from "node:http";
import { untracked } from "../tracking.ts";
import { echoWebSocket } from "../web-socket.ts";
import type { Parts } from "./build.ts";

export function naive({ options, handler, probes, note }: Parts): Server {
  const app = handler({ track: untracked });
  const server = createServer((req, res) => {
    if (!probes(req, res)) void app(req, res);
  });
  server.on("upgrade", echoWebSocket);
  process.on("SIGTERM", () => {
    note("signal", { signal: "SIGTERM" });
    server.close(() => process.exit(0));
  });
  return server.listen(options.port, options.host);
}
