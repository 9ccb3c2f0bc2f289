/** Two sockets as one connection, as a router stands between its ends: bytes, ends and resets pass as they are. */

import type { Socket } from "node:net";
import { passReset } from "./pass-reset.ts";

export function joinSockets(client: Socket, server: Socket): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.pipe(to);
    from.once("error", () => passReset(to));
    from.once("close", () => to.destroySoon());
  }
}
