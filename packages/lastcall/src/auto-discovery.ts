/**
 * Finds every server of the process without being told: by the channel on which Node announces `listen()`, and where that
 * is missing by the first request. Runs at `listen()` only, never per request.
 */

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server as HttpServer } from "node:http";
import type { Server } from "node:net";
import { onListen, type ListenOptions } from "./servers/listen-channel.ts";

export interface Discovery {
  /** A server is about to listen, with `options`, or was seen with its first request. */
  found(server: Server, options: ListenOptions | undefined): void;
  /** It listens. */
  listening(server: Server): void;
}

/** Subscribed for the life of the process: a server may come at any time. */
export function discoverServers({ found, listening }: Discovery): void {
  const onRequest = (message: unknown): void => {
    const { server } = message as { readonly server: HttpServer };
    unsubscribe("http.server.request.start", onRequest);
    found(server, undefined);
    listening(server);
  };
  onListen((server, options) => {
    // Node has the channel, so nobody needs to look at requests.
    unsubscribe("http.server.request.start", onRequest);
    found(server, options);
  });
  subscribe("tracing:net.server.listen:asyncEnd", (message) =>
    listening((message as { server: Server }).server),
  );
  subscribe("http.server.request.start", onRequest);
}
