/**
 * Finds every server of the process without being told: by the channel on which Node announces `listen()`, and where that
 * is missing by the first request. Runs at `listen()` only, never per request.
 */

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server as HttpServer } from "node:http";
import type { Server } from "node:net";

export interface Discovery {
  /** A server is about to listen, or was seen with its first request. `port` is the one asked for. */
  found(server: Server, port: number | undefined): void;
  /** It listens. */
  listening(server: Server): void;
}

interface ListenMessage {
  readonly server: Server;
  readonly options?: { readonly port?: number | string };
}

/** Subscribed for the life of the process: a server may come at any time. */
export function discoverServers({ found, listening }: Discovery): void {
  const onRequest = (message: unknown): void => {
    const { server } = message as { readonly server: HttpServer };
    unsubscribe("http.server.request.start", onRequest);
    found(server, undefined);
    listening(server);
  };
  const onListen = (message: unknown): void => {
    // Node has the channel (20.13, 22.3 and later), so nobody needs to look at requests.
    unsubscribe("http.server.request.start", onRequest);
    const { server, options } = message as ListenMessage;
    found(server, options?.port === undefined ? undefined : Number(options.port));
  };
  subscribe("tracing:net.server.listen:asyncStart", onListen);
  subscribe("tracing:net.server.listen:asyncEnd", (message) => listening((message as ListenMessage).server));
  subscribe("http.server.request.start", onRequest);
}
