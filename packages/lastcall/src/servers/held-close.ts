/**
 * A framework's own `server.close()` during the drain: the listener's time and every connection's is the lifecycle's to
 * decide, so the call is kept, and its callback is called when the drain is over. Only the instance is changed, and only
 * from the stop on.
 */

import { AsyncResource } from "node:async_hooks";
import type { Server } from "node:http";

type Callback = (error?: Error) => unknown;

/**
 * Returns the function to call when the server has drained: it calls the callbacks that waited, and returns what they
 * return. One that comes later is called at once, without the error that Node has for a server that is closed already: to the
 * app it is the first close.
 */
export function holdClose(server: Server): () => readonly unknown[] {
  const waiting: Callback[] = [];
  let drained = false;
  const close = (callback?: unknown): Server => {
    if (typeof callback === "function") {
      // With the context of the caller, so that what the callback ends is known to be the caller's doing.
      const bound = AsyncResource.bind(callback as Callback);
      if (drained) {
        queueMicrotask(() => bound());
      } else {
        waiting.push(bound);
      }
    }
    return server;
  };
  Object.assign(server, { close, closeIdleConnections: () => {}, closeAllConnections: () => {} });
  return () => {
    drained = true;
    return waiting.splice(0).map((callback) => callback());
  };
}
