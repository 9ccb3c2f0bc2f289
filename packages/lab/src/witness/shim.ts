/**
 * A recording shim in front of one copy, for services in any language: bytes pass unchanged, ends and resets too, and each
 * request that arrives is told with what became of it. It listens for as long as the copy does, so that a router which comes
 * too late is refused here as it would be there.
 */

import { closeSync, openSync, readSync } from "node:fs";
import net from "node:net";
import type { WitnessRecord } from "../ledger/records.ts";
import { ResponseParser } from "../load/response-parser.ts";
import { RequestParser } from "./request-parser.ts";

export interface ShimOptions {
  readonly copy: string;
  /** Where it listens. */
  readonly port: number;
  /** Where the copy listens, on the same host. */
  readonly to: number;
  readonly now: () => number;
  readonly onRecord: (record: WitnessRecord) => void;
}

export interface Shim {
  /** The copy has been told to stop: from now on its listener is watched. */
  leaving(): void;
  /** Resolves when what was open is told. */
  close(): Promise<void>;
}

type Draft = { -readonly [Key in keyof WitnessRecord]: WitnessRecord[Key] };

const HOST = "127.0.0.1";
const WATCH_MS = 10;
const WATCH_BYTES = 4096;

/** The lines about listening sockets, which stand first: a busy machine has thousands of others. */
function listeningLines(file: string): readonly string[] {
  const lines: string[] = [];
  const buffer = Buffer.allocUnsafe(WATCH_BYTES);
  const fd = openSync(file, "r");
  try {
    let rest = "";
    for (;;) {
      // A read gives a page, however much is asked for.
      const length = readSync(fd, buffer, 0, WATCH_BYTES, null);
      const parts = (rest + buffer.toString("latin1", 0, length)).split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) {
        // `  sl  local_address rem_address   st`: 0A is LISTEN.
        const state = /^\s*\d+: \S+ \S+ ([0-9A-F]{2}) /.exec(line)?.[1];
        if (state === "0A") {
          lines.push(line);
        } else if (state !== undefined) {
          return lines;
        }
      }
      if (length === 0) {
        return lines;
      }
    }
  } finally {
    closeSync(fd);
  }
}

/** Whether somebody listens on the port; null where /proc does not tell. */
export function isListening(port: number): boolean | null {
  const wanted = new RegExp(`^\\s*\\d+: [0-9A-F]+:${port.toString(16).toUpperCase().padStart(4, "0")} `);
  let known = false;
  for (const file of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    try {
      if (listeningLines(file).some((line) => wanted.test(line))) {
        return true;
      }
      known = true;
    } catch {
      // Not Linux, or no such family.
    }
  }
  return known ? false : null;
}

/** What passes on one connection, and its requests in their order. */
function join(from: net.Socket, options: ShimOptions, onRefused: () => void): void {
  const { copy, to, now, onRecord } = options;
  const open: Draft[] = [];
  let left = false;
  let peerLeft = false;
  const response = new ResponseParser();
  const requests = new RequestParser({
    head: ({ method, id }) => {
      if (method === "HEAD" || method === "CONNECT") {
        requests.lose(); // Their answers have no body whatever their headers say.
        return;
      }
      open.push({
        kind: "witness",
        id: id ?? "",
        copy,
        by: "shim",
        method,
        arrivedMs: now(),
        bodyMs: null,
        answeredMs: null,
        status: null,
        closedFirst: null,
        // The copy had closed its side before: what comes now meets nobody.
        ...(left ? { refused: true as const } : {}),
      });
    },
    end: () => {
      const last = open.at(-1);
      if (last !== undefined) {
        last.bodyMs = now();
      }
    },
  });
  const tell = (draft: Draft): void => {
    if (draft.id !== "") {
      onRecord(draft);
    }
  };
  const answered = (): void => {
    const draft = open.shift();
    if (draft !== undefined) {
      draft.answeredMs = now();
      draft.status = response.status;
      tell(draft);
    }
    response.reset();
  };
  /** The connection is over: what is open has been cut by whoever came first. */
  const cut = (by: "service" | "peer", refused: boolean): void => {
    for (const [index, draft] of open.splice(0).entries()) {
      draft.closedFirst = peerLeft ? "peer" : by;
      draft.status = index === 0 && response.status > 0 ? response.status : null;
      if (refused) {
        draft.refused = true;
      }
      tell(draft);
    }
  };
  let connected = false;
  const target = net.connect({ host: HOST, port: to, noDelay: true, allowHalfOpen: true });
  target.once("connect", () => (connected = true));

  from.on("data", (bytes: Buffer) => {
    requests.push(bytes);
    if (!target.write(bytes)) {
      from.pause();
      target.once("drain", () => from.resume());
    }
  });
  target.on("data", (bytes: Buffer) => {
    if (!requests.lost && open.length > 0) {
      response.push(bytes, bytes.length);
      if (response.state === "done") {
        answered();
      } else if (response.state === "broken") {
        requests.lose();
        cut("service", false);
      }
    }
    if (!from.write(bytes)) {
      target.pause();
      from.once("drain", () => target.resume());
    }
  });
  target.on("end", () => {
    left = true;
    response.end();
    if (response.state === "done" && open.length > 0) {
      answered();
    }
    cut("service", false);
    from.end();
  });
  from.on("end", () => {
    // It may be done with sending and still wait for its answer; if none comes it was the first that left.
    peerLeft = true;
    target.end();
  });
  target.on("error", (error: NodeJS.ErrnoException) => {
    const refused = !connected && error.code === "ECONNREFUSED";
    cut("service", refused);
    if (refused) {
      onRefused();
    }
    from.resetAndDestroy();
  });
  from.on("error", () => {
    cut("peer", false);
    target.resetAndDestroy();
  });
  from.on("close", () => {
    cut("peer", false);
    target.destroy();
  });
  target.on("close", () => {
    cut("service", false);
    from.end();
  });
}

export async function startShim(options: ShimOptions): Promise<Shim> {
  const sockets = new Set<net.Socket>();
  let watch: NodeJS.Timeout | null = null;
  let closed = false;
  const shut = (): void => {
    if (!closed) {
      closed = true;
      server.close();
    }
    if (watch !== null) {
      clearInterval(watch);
      watch = null;
    }
  };
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    join(socket, options, shut);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: HOST, port: options.port, backlog: 511 }, resolve);
  });
  return {
    leaving: () => {
      watch ??= setInterval(() => {
        if (isListening(options.to) === false) {
          shut();
        }
      }, WATCH_MS);
    },
    close: async () => {
      shut();
      // Each tells what it carried when it closes.
      await Promise.all(
        [...sockets].map(
          (socket) =>
            new Promise((resolve) => {
              socket.once("close", resolve);
              socket.destroy();
            }),
        ),
      );
    },
  };
}
