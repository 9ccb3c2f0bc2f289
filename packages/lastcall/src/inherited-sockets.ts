/**
 * Socket activation: the sockets that systemd has passed, checked one by one, and given to the servers that ask for their
 * ports. What the environment says wrongly is named and changes nothing.
 */

import { LastcallError } from "./errors.ts";
import type { Host } from "./host.ts";
import { nodeHost } from "./node-host.ts";
import { describeDescriptors, interceptListen } from "./node-inherited.ts";
import {
  describeSocket,
  pickSocket,
  readListenVariables,
  type InheritedSocket,
} from "./platform/inherited.ts";
import { TAKEOVER_KEY, type TakeoverCopy } from "./registry.ts";

/**
 * The listening sockets that this process was started with, by systemd (`LISTEN_FDS`) or by `lastcall-takeover`. Empty
 * where there are none. With `lastcall/auto` nobody needs it: a `listen()` on a port that a socket has uses that socket.
 *
 * @example
 * const [socket] = inheritedSockets();
 * server.listen(socket ?? { port: 8080 });
 */
export function inheritedSockets(host: Host = nodeHost()): readonly InheritedSocket[] {
  const takeover = host.registry[TAKEOVER_KEY] as TakeoverCopy | undefined;
  return takeover?.sockets ?? activatedSockets(host);
}

/** What systemd has passed. What it says of a socket that is none is said once. */
export function activatedSockets(host: Host): readonly InheritedSocket[] {
  if (host.facts.clusterWorker || host.facts.workerThread) {
    // The sockets are the primary's or the main thread's, and so is the environment that tells of them.
    return [];
  }
  const told = readListenVariables(host.env, host.facts.pid);
  if (told.kind === "none") {
    return [];
  }
  if (told.kind === "wrong") {
    warn(host, told.why);
    return [];
  }
  const addresses = describeDescriptors(told.fds.map(({ fd }) => fd));
  const wrong = told.fds.filter((_, n) => addresses[n] === null).map(({ fd }) => fd);
  if (wrong.length > 0) {
    const which = wrong.length === 1 ? `descriptor ${wrong[0]} is` : `descriptors ${describeList(wrong)} are`;
    warn(host, `LISTEN_FDS is ${told.fds.length}, but ${which} no listening socket.`);
  }
  return told.fds.flatMap((one, n) => {
    const address = addresses[n];
    return address == null ? [] : [{ ...one, ...address }];
  });
}

/** Auto mode: from now on a server that listens on the port of a passed socket gets that socket. */
export function useActivatedSockets(host: Host): void {
  const sockets = [...activatedSockets(host)];
  if (sockets.length === 0) {
    return;
  }
  interceptListen({
    take(asked) {
      const socket = pickSocket(sockets, asked);
      if (socket !== undefined) {
        sockets.splice(sockets.indexOf(socket), 1);
        return socket;
      }
      if (sockets.length > 0) {
        const others = sockets.map((one) => `${describeSocket(one)} ('${one.name}')`).join(", ");
        warn(
          host,
          `The app listens on ${describeSocket(asked)}, and systemd has passed ${others}. To give it that socket, write FileDescriptorName=${asked.port ?? "PORT"} in the socket unit.`,
        );
      }
      return undefined;
    },
    listening(_server, _asked, fd) {
      const at = sockets.findIndex((one) => one.fd === fd);
      if (at !== -1) {
        sockets.splice(at, 1);
      }
    },
  });
}

function warn(host: Host, why: string): void {
  if (host.env["LASTCALL_LOG"] !== "none") {
    host.writeLine(`lastcall: warning: ${new LastcallError("LASTCALL_LISTEN_FDS", why).message}`);
  }
}

/** `3, 4 and 5`, and where there are many `3 to 90`, since they are numbered in a row. */
function describeList(fds: readonly number[]): string {
  return fds.length > 4 ? `${fds[0]} to ${fds.at(-1)}` : `${fds.slice(0, -1).join(", ")} and ${fds.at(-1)}`;
}
