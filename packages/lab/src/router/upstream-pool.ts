/** The embedded router's pooled connections to the copies, kept as nginx's `keepalive 16` keeps them. */

import { Agent } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Upstream } from "./router.ts";

const POOLED = 16;

export function address(upstream: Upstream): string {
  return `${upstream.host}:${upstream.port}`;
}

/** A pool that, like nginx's, does not heed the server's `Keep-Alive: timeout` hint, and forgets removed upstreams. */
export class UpstreamPool extends Agent {
  private readonly listed: (key: string) => boolean;

  constructor(listed: (key: string) => boolean) {
    super({ keepAlive: true, maxFreeSockets: POOLED, scheduling: "lifo" });
    this.listed = listed;
  }

  override keepSocketAlive(socket: Duplex): boolean {
    const { remoteAddress, remotePort } = socket as Socket;
    (socket as Socket).setTimeout(0);
    return this.listed(`${remoteAddress}:${remotePort}`);
  }

  /** Closes the idle connections to whom the list does not name. */
  forgetOthers(list: readonly Upstream[]): void {
    for (const [key, sockets] of Object.entries(this.freeSockets)) {
      // Agent's keys begin with `host:port:`.
      if (!list.some((one) => key.startsWith(`${address(one)}:`))) {
        sockets?.forEach((socket) => socket.destroy());
      }
    }
  }
}
