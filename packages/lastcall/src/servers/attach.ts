/** One server with all that it speaks: HTTP/1.1 first, and what takes over connections from it. */

import type { Server as HttpServer } from "node:http";
import type { Http2SecureServer, Http2Server } from "node:http2";
import { Server as TlsServer } from "node:tls";
import { Server as NetServer } from "node:net";
import { Connections } from "./connections.ts";
import { attachHttp1 } from "./http1.ts";
import { attachHttp2, isHttp2 } from "./http2.ts";
import type { DrainedServer, ServerHooks } from "./server.ts";
import { attachUpgrades } from "./upgrade.ts";

export type DrainableServer = HttpServer | Http2Server | Http2SecureServer;

/** Whether it is a server that `attachServer` knows how to drain. */
export function isDrainable(server: unknown): server is DrainableServer {
  return (
    server instanceof NetServer &&
    (isHttp2(server) || typeof (server as HttpServer).closeIdleConnections === "function")
  );
}

/** Begins to count what `server` does. Works before and after `listen()`, and with requests already in flight. */
export function attachServer(server: DrainableServer, hooks: ServerHooks): DrainedServer {
  const http = server as HttpServer;
  const connections = new Connections(http, server instanceof TlsServer, hooks.onQuiet);
  const first = attachHttp1(http, hooks, connections);
  const others = [attachUpgrades(http, hooks, connections)];
  if (isHttp2(server)) {
    others.push(attachHttp2(server, hooks, connections));
  }
  const parts = [first, ...others];
  return {
    begin: () => parts.forEach((part) => part.begin()),
    announce: () => parts.forEach((part) => part.announce()),
    async shut() {
      const closed = await first.shut();
      others.forEach((part) => part.shut());
      return closed;
    },
    sweep: () => parts.forEach((part) => part.sweep()),
    cut: () => parts.flatMap((part) => part.cut()),
    connections: () => parts.reduce((sum, part) => sum + part.connections(), 0),
    idle: () => parts.reduce((sum, part) => sum + part.idle(), 0),
    counts: () => Object.assign({}, ...parts.map((part) => part.counts())),
    detach: () => parts.toReversed().forEach((part) => part.detach()),
  };
}
