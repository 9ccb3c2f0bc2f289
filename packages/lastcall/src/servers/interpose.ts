/** A say before the app: each event of a server is put to us first, from the stop on. */

import type { Server } from "node:net";
import type { Undo } from "../host.ts";

type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/** `decide` returns true for what the app shall not see. A listener would be too late: the app's may stand before it. */
export function interpose(
  server: Server,
  decide: (event: string | symbol, args: readonly unknown[]) => boolean,
): Undo {
  const own = Object.getOwnPropertyDescriptor(server, "emit");
  const emit = server.emit as unknown as Emit;
  server.emit = function deciding(this: Server, event: string | symbol, ...args: unknown[]): boolean {
    return decide(event, args) || emit.call(this, event, ...args);
  } as Server["emit"];
  return () => {
    if (own === undefined) {
      Reflect.deleteProperty(server, "emit");
    } else {
      Object.defineProperty(server, "emit", own);
    }
  };
}
