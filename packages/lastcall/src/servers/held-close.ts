/**
 * A framework's own `server.close()` during the drain: the listener's time and every connection's is the lifecycle's to
 * decide, so the call is kept, and its callback is called when the drain is over. Only the instance is changed, and only
 * from the stop on.
 */

import { AsyncResource } from "node:async_hooks";
import type { Server } from "node:http";

type Callback = (error?: Error) => void;
type Closing = { close: unknown; closeIdleConnections: unknown; closeAllConnections: unknown };

/** Returns the function that lets go: calls what waited, and closes at once from then on. */
export function holdClose(server: Server): () => void {
  const waiting: Callback[] = [];
  const keep = (callback?: unknown): Server => {
    if (typeof callback === "function") {
      // With the context of the caller, so that what the callback ends is known to be the caller's doing.
      waiting.push(AsyncResource.bind(callback as Callback));
    }
    return server;
  };
  const instance = server as unknown as Closing;
  const before = Object.getOwnPropertyDescriptors(instance);
  const names = ["close", "closeIdleConnections", "closeAllConnections"] as const;
  instance.close = keep;
  instance.closeIdleConnections = () => {};
  instance.closeAllConnections = () => {};
  return () => {
    for (const name of names) {
      const own = before[name];
      if (own === undefined) {
        Reflect.deleteProperty(instance, name);
      } else {
        Object.defineProperty(instance, name, own);
      }
    }
    // It has been closed; a second close would only report that.
    waiting.splice(0).forEach((callback) => callback());
  };
}
