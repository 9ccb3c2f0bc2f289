/** The real processes of a takeover: copies of the app, with the sockets as inherited descriptors and a channel to each. */

import { spawn } from "node:child_process";
import { closeSync, statSync, unlinkSync } from "node:fs";
import { activatedSockets } from "./inherited-sockets.ts";
import type { Host } from "./host.ts";
import { describeSocket } from "./platform/inherited.ts";
import { readFromCopy, TAKEOVER_VARIABLE, type Told, type ToCopy } from "./takeover/messages.ts";
import type { HeldSocket, StartCopy } from "./takeover/copy.ts";

/** The loader that makes the app use what it is given. */
const COPY: string = new URL("node-takeover-copy.js", import.meta.url).href;

const FIRST_FD = 3;

/** A listening socket as it comes through the channel: Node's own wrap of it, which does nothing until asked to listen. */
interface NativeSocket {
  readonly fd: number;
  close(): void;
}

export interface AppCommand {
  readonly script: string;
  readonly args: readonly string[];
  readonly nodeOptions: readonly string[];
}

export interface Grant {
  readonly gracePeriodMs: number;
  readonly source: string;
}

/** How copies of this app are started. */
export function startCopiesOf({ script, args, nodeOptions }: AppCommand, grant: Grant): StartCopy {
  return (sockets, events) => {
    const told: Told = {
      parent: process.pid,
      ...grant,
      activated: sockets.filter(({ activated }) => activated).length,
      sockets: sockets.map(({ name, port, host, path }, n) => ({ fd: FIRST_FD + n, name, port, host, path })),
    };
    const env: NodeJS.ProcessEnv = { ...process.env, [TAKEOVER_VARIABLE]: JSON.stringify(told) };
    // The parent is the unit's main process: a copy that leaves must not tell systemd that the service does.
    delete env["NOTIFY_SOCKET"];
    const child = spawn(process.execPath, ["--import", COPY, ...nodeOptions, script, ...args], {
      stdio: ["inherit", "inherit", "inherit", ...sockets.map(({ fd }) => fd), "ipc"],
      env,
    });
    let ended = false;
    const end = (code: number | null, signal: NodeJS.Signals | null): void => {
      if (!ended) {
        ended = true;
        events.ended({ code, signal });
      }
    };
    // Once its channel has closed too: what it has said before it ended comes first.
    child.once("close", end);
    child.once("error", () => {
      if (child.pid === undefined) {
        end(1, null);
      }
    });
    child.on("message", (raw, handle) => {
      const message = readFromCopy(raw);
      if (message === null) {
        return;
      }
      if (message === "ready") {
        events.ready(null);
      } else if (message.lastcall === "ready") {
        events.ready(message.gracePeriodMs);
      } else if (message.lastcall === "failed") {
        events.failed(describeSocket(message), message.code);
      } else if (handle != null) {
        const given = message.fd === null ? null : (sockets[message.fd - FIRST_FD] ?? null);
        events.listens(hold(handle as unknown as NativeSocket, message), given);
      }
    });
    const tell = (message: ToCopy, failed: () => void): void => {
      if (child.connected) {
        child.send(message, (error) => {
          if (error !== null) {
            failed();
          }
        });
      } else {
        failed();
      }
    };
    return {
      pid: child.pid ?? 0,
      signal: (signal) => void child.kill(signal),
      leave() {
        // One that cannot be told any more is told by its signal.
        tell({ lastcall: "leave" }, () => child.kill("SIGTERM"));
      },
      drop(dropped) {
        const fds = dropped.map((socket) => sockets.indexOf(socket)).filter((at) => at !== -1);
        tell({ lastcall: "drop", fds: fds.map((at) => at + FIRST_FD) }, () => {});
      },
    };
  };
}

function hold(socket: NativeSocket, at: Pick<HeldSocket, "port" | "host" | "path">): HeldSocket {
  const { port, host, path } = at;
  const inode = inodeOf(path);
  return {
    fd: socket.fd,
    name: "",
    port,
    host,
    path,
    activated: false,
    close: () => socket.close(),
    forget() {
      // Whoever has bound the path since keeps its file.
      if (path !== null && inode !== null && inodeOf(path) === inode) {
        unlinkSync(path);
      }
    },
  };
}

function inodeOf(path: string | null): number | null {
  try {
    return path === null ? null : statSync(path).ino;
  } catch {
    // It has no file, or it is gone.
    return null;
  }
}

/** What systemd has passed to this process, for the copies. */
export function holdActivated(host: Host): readonly HeldSocket[] {
  return activatedSockets(host).map((socket) => ({
    ...socket,
    activated: true,
    close: () => closeSync(socket.fd),
    forget() {},
  }));
}
