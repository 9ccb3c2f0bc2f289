/**
 * Closing a listener without resetting what waits behind it: its queue is emptied first, then only the listening socket
 * is closed, by net's own close. http's close would cut idle connections and stop Node's enforcement of its timeouts.
 */

import { linkSync, renameSync, rmSync, statSync } from "node:fs";
import { Server } from "node:net";
import type { Host } from "../host.ts";
import { isReplaced, TAKEOVER_KEY, type TakeoverCopy } from "../registry.ts";

/**
 * The shrunken backlog is left to empty until nobody has come for this long. Over six closes on a busy machine with 32 clients that
 * reconnect for each request: closed at once 179 resets, after 20 ms in any case 14, after 20 quiet ms none.
 */
const QUIET_MS = 20;

/**
 * Clients that come faster than they can be turned away are not waited for any longer than this, the usual linger window: over ten
 * closes on a machine with ten times its load, 3 to 4 of 320 were reset after 150 ms and 1 to 2 after 250 ms.
 */
const MOST_EMPTYING_MS = 250;

const STEP_MS = 5;

/**
 * libuv accepts one connection a turn of the loop (since 1.45), so a queue that has filled behind a stalled loop takes as many turns as
 * there are connections in it, and a turn on which none comes has found it empty. Node's default backlog: more cannot have waited.
 * Closed after a time instead, a loop that had been blocked for 1.2 s reset 265 of 300.
 */
const MOST_WAITING = 511;

/** The way through the primary and back, on a busy machine. */
const HAND_BACK_MS = 250;

interface Handle {
  listen?(backlog: number): number;
  readonly fd?: number;
}

type WithHandle = Server & { readonly _handle?: Handle | null; readonly _connectionKey?: string };

/** Identity of a unix socket's file, to tell ours from the next copy's. */
export function socketFile(server: Server): { readonly path: string; readonly inode: number } | null {
  const address = server.address();
  // An abstract socket (it begins with a zero byte) has no file.
  if (typeof address !== "string" || address.startsWith("\0")) {
    return null;
  }
  try {
    return { path: address, inode: statSync(address).ino };
  } catch {
    return null;
  }
}

/** Whether others go on listening on the socket, so that its queue is not ours to empty. */
function hasOthers(host: Host, server: WithHandle): boolean {
  const takeover = host.registry[TAKEOVER_KEY] as TakeoverCopy | undefined;
  if (takeover !== undefined) {
    // Whoever bound it: only where another copy serves is there anybody left, for at a stop the parent lets go at once. What
    // systemd has passed stays with systemd.
    return isReplaced(host) || takeover.activated.includes(server._handle?.fd ?? -1);
  }
  // A supervisor's. net builds this key from the address it bound; with listen({ fd }) there is none.
  return server._connectionKey?.startsWith("null:null") === true;
}

export interface Closed {
  /** Whether somebody came while it was being closed. */
  readonly someCame: boolean;
  /** Resolves when nobody can be on the way to it any more; until then the process must live. */
  readonly settled: Promise<void>;
}

/**
 * Empties the accept queue and closes the listener; resolves when it is closed. `accepted` counts the connections that came so
 * far. A service that is asked for more than it can do never finds its queue empty: after `mostMs` it is closed in any case,
 * so that what it has accepted has time to be finished. In a cluster worker only the turns of the loop help: the queue is the
 * primary's, where the handle is a plain object, or shared with the other workers.
 */
export async function closeListener(
  host: Host,
  server: Server,
  file: ReturnType<typeof socketFile>,
  accepted: () => number,
  mostMs: number = Number.POSITIVE_INFINITY,
): Promise<Closed> {
  if (!server.listening) {
    return { someCame: false, settled: Promise.resolve() };
  }
  const giveUpAt = host.now() + mostMs;
  const before = accepted();
  const handle = (server as WithHandle)._handle;
  const inherited = hasOthers(host, server) || host.facts.clusterWorker;
  if (handle?.constructor.name === "TCP" && !inherited) {
    handle.listen?.(0);
    await untilEmpty(host, accepted, MOST_WAITING, giveUpAt);
    await untilQuiet(host, accepted, giveUpAt);
  }
  await untilEmpty(host, accepted, inherited ? 1 : MOST_WAITING, giveUpAt);
  keepForeignFile(file, isReplaced(host), () => Server.prototype.close.call(server));
  // The primary may have handed on a connection before it heard of this. A worker that still lives hands it back, and
  // another gets it; one that has exited takes it along, and the client waits for ever (a timeout per 1,500).
  const handsBack = host.facts.clusterWorker && handle?.constructor.name === "Object";
  const settled = handsBack
    ? new Promise<void>((resolve) => {
        host.setTimer(HAND_BACK_MS, resolve);
      })
    : Promise.resolve();
  return { someCame: accepted() !== before, settled };
}

/** Resolves after a turn of the loop that has accepted nobody, or after so many turns. */
async function untilEmpty(
  host: Host,
  accepted: () => number,
  mostTurns: number,
  giveUpAt: number,
): Promise<void> {
  for (let turn = 0; turn < mostTurns; turn += 1) {
    const before = accepted();
    await new Promise<void>((resolve) => {
      host.afterPoll(resolve);
    });
    if (accepted() === before || host.now() >= giveUpAt) {
      return;
    }
  }
}

/**
 * Resolves after 20 ms in which nobody came. Where somebody came there are others who believe to be connected while the full
 * queue has dropped the end of their handshake: they send again after 200 ms, and get their chance until then.
 */
async function untilQuiet(host: Host, accepted: () => number, giveUpAt: number): Promise<void> {
  const before = accepted();
  const endAt = Math.min(host.now() + MOST_EMPTYING_MS, giveUpAt);
  // Steps and not only time: on a stalled loop time passes without a look at the queue.
  for (let steps = 0; steps < QUIET_MS / STEP_MS || accepted() !== before; steps += 1) {
    if (host.now() >= endAt) {
      return;
    }
    await new Promise<void>((resolve) => {
      host.setTimer(STEP_MS, () => host.afterPoll(resolve));
    });
  }
}

/**
 * libuv removes the file of a unix socket when it closes the handle, even when another process has bound the path
 * since, or still listens on the socket itself (`isShared`). That file is kept by a second name across the close.
 */
function keepForeignFile(file: ReturnType<typeof socketFile>, isShared: boolean, close: () => void): void {
  let spare: string | null = null;
  if (file !== null) {
    try {
      if (isShared || statSync(file.path).ino !== file.inode) {
        spare = `${file.path}.${file.inode}.keep`;
        linkSync(file.path, spare);
      }
    } catch {
      // Nobody has bound the path since, or it cannot be linked: there is nothing that we could keep.
      spare = null;
    }
  }
  close();
  if (file !== null && spare !== null) {
    renameSync(spare, file.path);
    // Of two names for one file rename() leaves both: the handle was inherited, and libuv has removed nothing.
    rmSync(spare, { force: true });
  }
}
