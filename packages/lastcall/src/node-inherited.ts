/** The sockets that this process was started with, as the system shows them, and how `listen()` comes to use them. */

import { errorMonitor, type EventEmitter } from "node:events";
import { fstatSync, readFileSync, readlinkSync } from "node:fs";
import { Server } from "node:net";
import type { Undo } from "./host.ts";
import {
  askedAddress,
  findListener,
  type AskedAddress,
  type InheritedSocket,
  type SocketAddress,
  type SocketTables,
} from "./platform/inherited.ts";

/** The queue holds what comes while no process accepts: as long as the system allows, unless the app says otherwise. */
const BACKLOG = 4096;

/** Where each descriptor listens; null for one that is no listening socket. */
export function describeDescriptors(fds: readonly number[]): readonly (SocketAddress | null)[] {
  const tables = readTables();
  return fds.map((fd) => {
    try {
      if (tables === null) {
        return fstatSync(fd).isSocket() ? { port: null, host: null, path: null } : null;
      }
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1];
      return inode === undefined ? null : findListener(inode, tables);
    } catch {
      // No such descriptor.
      return null;
    }
  });
}

function readTables(): SocketTables | null {
  const read = (name: string): string => {
    try {
      return readFileSync(`/proc/self/net/${name}`, "utf8");
    } catch {
      // A kernel without IPv6, say.
      return "";
    }
  };
  const tables = { tcp: read("tcp"), tcp6: read("tcp6"), unix: read("unix") };
  return tables.tcp === "" && tables.unix === "" ? null : tables;
}

export interface ListenHooks {
  /** The socket that a server shall use instead of one of its own. */
  take(asked: AskedAddress): InheritedSocket | undefined;
  /** It listens: on descriptor `fd`, or on a socket that it has bound itself. */
  listening(server: Server, asked: AskedAddress, fd: number | null): void;
  /** A socket that it binds itself shall be able to hold as much as a passed one. */
  readonly longQueue?: boolean;
  /** It could not bind. */
  failed?(asked: AskedAddress, code: string): void;
}

/** The app brings a descriptor, and no address. */
const NOWHERE: AskedAddress = { port: null, host: null, path: null };

type Listen = (this: Server, ...args: unknown[]) => Server;

/** Asked at each `listen()` of the process. There is no event that comes before Node has bound a socket of its own. */
export function interceptListen(hooks: ListenHooks): Undo {
  const listen = Server.prototype.listen as Listen;
  const intercepting: Listen = function listenOnInherited(this: Server, ...args: unknown[]): Server {
    const asked = askedAddress(args);
    const fd = (args[0] as { readonly fd?: unknown } | null | undefined)?.fd;
    const socket = asked === null ? undefined : hooks.take(asked);
    if (asked !== null || typeof fd === "number") {
      watch(this, asked ?? NOWHERE, socket?.fd ?? (typeof fd === "number" ? fd : null), hooks);
    }
    if (asked === null || (socket === undefined && hooks.longQueue !== true)) {
      return Reflect.apply(listen, this, args);
    }
    const given = typeof args[0] === "object" && args[0] !== null ? args[0] : {};
    const backlog =
      (given as { backlog?: number }).backlog ??
      args.slice(1).find((arg) => typeof arg === "number") ??
      BACKLOG;
    const callback = args.at(-1);
    if (socket !== undefined && socket.path !== null) {
      // What address() answers; the system cannot be asked for a pipe's.
      Object.assign(this, { _pipeName: socket.path });
    }
    // The address stays beside a descriptor, which Node prefers: whoever hears of this listen() knows which was meant.
    const options = {
      ...given,
      ...(asked.path === null ? { port: asked.port } : { path: asked.path }),
      ...(asked.host === null ? {} : { host: asked.host }),
      ...(socket === undefined ? { backlog } : { fd: socket.fd }),
    };
    // Beside a descriptor Node reads the backlog from the arguments alone.
    const more = socket === undefined ? [] : [backlog];
    return Reflect.apply(listen, this, [
      options,
      ...more,
      ...(typeof callback === "function" ? [callback] : []),
    ]);
  };
  Server.prototype.listen = intercepting as typeof Server.prototype.listen;
  return () => {
    Server.prototype.listen = listen as typeof Server.prototype.listen;
  };
}

function watch(server: Server, asked: AskedAddress, fd: number | null, hooks: ListenHooks): void {
  const listening = (): void => {
    (server as EventEmitter).removeListener(errorMonitor, failed);
    hooks.listening(server, asked, fd);
  };
  const failed = (error: NodeJS.ErrnoException): void => {
    server.removeListener("listening", listening);
    hooks.failed?.(asked, error.code ?? String(error));
  };
  server.once("listening", listening);
  // Types of Node 20 name no symbols here.
  (server as EventEmitter).once(errorMonitor, failed);
}
