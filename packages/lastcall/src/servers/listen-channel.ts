/** The channel on which Node announces each `listen()` before it happens (20.13, 22.3 and later). */

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:net";
import type { Undo } from "../host.ts";

const LISTEN = "tracing:net.server.listen:asyncStart";

/** What `listen()` was given, as far as it matters here. */
export interface ListenOptions {
  readonly port?: number | string;
  readonly reusePort?: boolean;
}

/** Calls back before a server listens, with the options of `listen()`; never on a Node without the channel. */
export function onListen(run: (server: Server, options: ListenOptions | undefined) => void): Undo {
  const heard = (message: unknown): void => {
    const { server, options } = message as { readonly server: Server; readonly options?: ListenOptions };
    run(server, options);
  };
  subscribe(LISTEN, heard);
  return () => void unsubscribe(LISTEN, heard);
}
