/**
 * Loaded before the app in every copy that `lastcall-takeover` starts: the app's `listen()` gets the sockets that the parent
 * holds, what it binds itself is handed up, and auto mode is on. Does the latter alone in a process that is no copy, since a
 * copy's own children inherit the loader.
 */

import type { SendHandle } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { closeSync } from "node:fs";
import type { Server } from "node:net";
import { startAuto } from "./auto-start.ts";
import type { StateChange } from "./life.ts";
import { readCluster } from "./node-cluster.ts";
import { nodeHost } from "./node-host.ts";
import { interceptListen } from "./node-inherited.ts";
import { onMessage, onParentGone } from "./node-channel.ts";
import { pickSocket } from "./platform/inherited.ts";
import { LIFECYCLE_KEY, TAKEOVER_KEY, type Registered, type TakeoverCopy } from "./registry.ts";
import { TAKEOVER_VARIABLE, type FromCopy, type Told, type ToCopy } from "./takeover/messages.ts";

/** How often a copy looks whether its parent is there, once the channel has closed. */
const LOOK_MS = 250;

const GONE = "lastcall: lastcall-takeover has gone, so this copy stops";

const host = nodeHost();
const told = readTold();
if (told !== null) {
  become(told);
}
startAuto(host);

function readTold(): Told | null {
  const text = process.env[TAKEOVER_VARIABLE];
  delete process.env[TAKEOVER_VARIABLE];
  if (text === undefined) {
    return null;
  }
  let value: Told;
  try {
    value = JSON.parse(text) as Told;
  } catch {
    // Somebody else's variable of that name.
    return null;
  }
  if (value.parent !== process.ppid) {
    // It has died since it started this process, which nobody would ever stop.
    host.writeLine(GONE);
    host.exit(1);
  }
  return value;
}

function become({ parent, gracePeriodMs, source, sockets, activated }: Told): void {
  const copy: TakeoverCopy = {
    sockets,
    activated: sockets.slice(0, activated).map(({ fd }) => fd),
    gracePeriodMs,
    source,
    replaced: false,
  };
  host.registry[TAKEOVER_KEY] = copy;
  if (activated > 0) {
    // For an app that reads systemd's variables itself.
    process.env["LISTEN_PID"] = String(process.pid);
  }
  const unused = [...sockets];
  useSockets(unused);
  subscribe("lastcall:state", (message) => {
    if ((message as StateChange).to === "serving") {
      tellReady();
    }
  });
  onMessage((raw) => {
    const message = raw as Partial<ToCopy> | null;
    if (message?.lastcall === "leave") {
      copy.replaced = true;
      stop();
    } else if (message?.lastcall === "drop") {
      for (const socket of unused.filter(({ fd }) => message.fds?.includes(fd))) {
        unused.splice(unused.indexOf(socket), 1);
        closeSync(socket.fd);
      }
    }
  });
  if (process.channel === undefined) {
    lookFor(parent);
  } else {
    onParentGone(() => lookFor(parent));
  }
}

/** The app may have closed the channel by itself; a parent that has died leaves a trace a moment later. */
function lookFor(parent: number): void {
  if (process.ppid !== parent) {
    host.writeLine(GONE);
    stop();
    return;
  }
  host.setTimer(LOOK_MS, () => lookFor(parent), true);
}

function useSockets(sockets: Told["sockets"][number][]): void {
  interceptListen({
    longQueue: true,
    take(asked) {
      const socket = pickSocket(sockets, asked);
      if (socket !== undefined) {
        sockets.splice(sockets.indexOf(socket), 1);
      }
      return socket;
    },
    listening(server, { port, host: address, path }, fd) {
      const known = sockets.findIndex((socket) => socket.fd === fd);
      if (known !== -1) {
        // The app brought the descriptor itself.
        sockets.splice(known, 1);
      }
      const { _handle } = server as Server & { readonly _handle?: unknown };
      const message: FromCopy = { lastcall: "listens", port, host: address, path, fd };
      tell(message, _handle as SendHandle | undefined);
      if (readCluster() !== null) {
        // The workers of a cluster serve; its primary has no server of its own to be ready with.
        tellReady();
      }
    },
    failed(asked, code) {
      const message: FromCopy = { lastcall: "failed", ...asked, code };
      tell(message);
    },
  });
}

function tellReady(): void {
  const life = (host.registry[LIFECYCLE_KEY] as Registered | undefined)?.life;
  const message: FromCopy = { lastcall: "ready", gracePeriodMs: life?.budget.gracePeriodMs ?? null };
  tell(message);
}

/** A parent that has gone is told nothing, and the copy learns of that by itself. */
function tell(message: FromCopy, handle?: SendHandle): void {
  process.send?.(message, handle, {}, () => {});
}

/** The signal that a stop would be, so that the app's own handlers hear of it as ever. */
function stop(): void {
  process.kill(process.pid, "SIGTERM");
}
