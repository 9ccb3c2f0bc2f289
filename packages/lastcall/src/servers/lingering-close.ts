/**
 * Closing behind an answer to a request that is still being sent: the answer goes out, then FIN, and what the client
 * goes on sending is read for a while. A socket that is closed with unread bytes resets the answer away (RFC 9112, 9.6).
 */

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Host } from "../host.ts";

/** Without a byte for this long, nobody is sending any more. */
const SILENCE_MS = 500;

/** However much there is still to come: an exit does not wait for an upload that nobody wants. */
const LONGEST_MS = 3000;

/** Call when `response` is finished, before Node closes its connection; where Node keeps it, nothing happens. */
export function lingerBehind(host: Host, response: ServerResponse): void {
  const request = response.req;
  const { socket } = request;
  if (request.complete || socket.destroyed) {
    return;
  }
  const destroySoon = socket.destroySoon;
  socket.destroySoon = function destroyLater() {
    socket.destroySoon = destroySoon;
    if (request.complete) {
      socket.destroySoon();
    } else {
      request.once("end", closeWhenSilent(host, socket)).resume();
    }
  };
}

/** Ends our side, reads on until the client is silent, and closes. Returns what closes it earlier. */
export function closeWhenSilent(host: Host, socket: Socket): () => void {
  const giveUpAt = host.now() + LONGEST_MS;
  let seen = socket.bytesRead;
  let cancel = (): void => {};
  const close = (): void => {
    cancel();
    socket.destroySoon();
  };
  const watch = (): void => {
    cancel = host.setTimer(SILENCE_MS, () => {
      if (socket.bytesRead === seen || host.now() >= giveUpAt) {
        close();
      } else {
        seen = socket.bytesRead;
        watch();
      }
    });
  };
  watch();
  socket.once("close", () => cancel());
  socket.end();
  return close;
}
