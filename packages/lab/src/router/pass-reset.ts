/**
 * Passes a reset on to the other side of a connection. Node's `resetAndDestroy()` ends the socket first; if that is destroyed by an
 * error in between, its handle is never closed (the reset is refused while the end is on its way, and the handle counts as closing), and a
 * thread that holds such a one spins for ever when it ends. Seen with Node 20.20.
 */

import type { Socket } from "node:net";

/** The sockets that are on their way to a reset. */
const underway = new WeakSet<Socket>();

export function passReset(socket: Socket): void {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readStop?(): unknown } | null };
  if (socket.destroyed || underway.has(socket)) {
    return;
  }
  if (socket.writableEnded || socket.writableLength > 0 || handle?.readStop === undefined) {
    socket.destroy(); // Who is in the middle of something may fail in it: a plain end.
    return;
  }
  // Nothing to write, and nothing that could come: no error can come in between.
  handle.readStop();
  underway.add(socket);
  socket.resetAndDestroy();
}

/** Destroys it, unless it is about to be. */
export function destroyUnlessReset(socket: Socket): void {
  if (!underway.has(socket)) {
    socket.destroy();
  }
}
