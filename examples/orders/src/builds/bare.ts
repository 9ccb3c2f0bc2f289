/** No handler at all: SIGTERM ends the process at once, in the middle of whatever it does. */

import { createServer, type Server } from "node:http";
import { untracked } from "../tracking.ts";
import { echoWebSocket } from "../web-socket.ts";
import type { Parts } from "./build.ts";

export function bare({ options, handler, probes }: Parts): Server {
  const app = handler({ track: untracked });
  const server = createServer((req, res) => {
    if (!probes(req, res)) void app(req, res);
  });
  server.on("upgrade", echoWebSocket);
  return server.listen(options.port, options.host);
}
