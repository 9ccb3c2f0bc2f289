/**
 * Listening only beside the app: for events where a listener changes what Node does without one (`upgrade` and `connect`
 * hand over the connection, `checkContinue` and `checkExpectation` the answer, `request` of HTTP/2 makes its other API).
 */

import type { Server } from "node:net";
import type { Undo } from "../host.ts";

type Listener = (...args: any[]) => void;

/** Puts `listener` before the app's as soon as there is one, and takes it off with the app's last. */
export function listenBeside(server: Server, event: string, listener: Listener): Undo {
  let standing = false;
  const added = (name: string | symbol): void => {
    if (name === event && !standing) {
      // Before the call, which is itself told as a new listener.
      standing = true;
      server.prependListener(event, listener);
    }
  };
  const removed = (name: string | symbol): void => {
    if (name === event && standing && server.listenerCount(event) === 1) {
      standing = false;
      server.removeListener(event, listener);
    }
  };
  if (server.listenerCount(event) > 0) {
    added(event);
  }
  // Behind the listeners of Node itself: HTTP/2 sets up its request API in one, which must not run twice.
  server.on("newListener", added);
  server.on("removeListener", removed);
  return () => {
    server.removeListener("newListener", added);
    server.removeListener("removeListener", removed);
    server.removeListener(event, listener);
  };
}
