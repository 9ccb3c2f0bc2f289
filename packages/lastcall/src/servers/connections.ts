/** The open connections of one server, and which of them nobody would miss. */

import { Server as HttpServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Fields that Node does not document; each is read only if it is there. Seen on Node 20, 22, 24 and 26. */
type Inside = Socket & {
  /** Of a TLS socket: the TCP socket below. */
  readonly _parent?: Socket | null;
  /** The response that owns the connection until its last byte is handed to the kernel. */
  readonly _httpMessage?: ServerResponse | null;
  /** Null or absent once the connection was upgraded. */
  readonly parser?: object | null;
};

interface ConnectionsList {
  all(): readonly { readonly socket?: Inside | null }[];
  idle(): readonly { readonly socket?: Inside | null }[];
}

export class Connections {
  readonly #server: HttpServer;
  readonly #tls: boolean;
  readonly #sockets = new Set<Inside>();
  readonly #secured = new Set<Inside>();
  /** Ended by us: over TLS it takes a moment until one is closed. */
  readonly #ending = new WeakSet<Socket>();
  /** Shared by all sockets, so that a connection costs two set entries and no closure. */
  readonly #forget: (this: Socket) => void;
  readonly #forgetSecured: (this: Socket) => void;
  /** How many were accepted so far. */
  accepted = 0;

  constructor(server: HttpServer, tls: boolean, onEmpty: () => void) {
    this.#server = server;
    this.#tls = tls;
    const sockets = this.#sockets;
    const secured = this.#secured;
    this.#forget = function forget() {
      sockets.delete(this);
      if (sockets.size === 0) {
        onEmpty();
      }
    };
    this.#forgetSecured = function forgetSecured() {
      secured.delete(this);
    };
  }

  get size(): number {
    return this.#sockets.size;
  }

  readonly add = (socket: Socket): void => {
    this.accepted += 1;
    this.#sockets.add(socket);
    socket.on("close", this.#forget);
  };

  /** A TLS handshake is complete. */
  readonly secure = (socket: Socket): void => {
    this.#secured.add(socket);
    socket.on("close", this.#forgetSecured);
  };

  /** It speaks another protocol from now on, and whoever follows that one follows it. */
  handOver(socket: Socket): void {
    const tcp = (socket as Inside)._parent ?? socket;
    for (const [set, one, forget] of [
      [this.#sockets, tcp, this.#forget],
      [this.#secured, socket, this.#forgetSecured],
    ] as const) {
      set.delete(one);
      one.removeListener("close", forget);
    }
  }

  /** The connections that were open before we came, each with the response it is busy with. */
  addEarlier(): readonly ServerResponse[] {
    const responses: ServerResponse[] = [];
    for (const { socket } of listOf(this.#server)?.all() ?? []) {
      if (socket) {
        this.add(socket._parent ?? socket);
        if (this.#tls) {
          this.secure(socket);
        }
        if (socket._httpMessage) {
          responses.push(socket._httpMessage);
        }
      }
    }
    return responses;
  }

  /**
   * Ends what is idle, `most` connections at most, and says whether there may be more: connections between two requests, those on
   * which no byte ever came (busy in Node's eyes before 26), and handshakes that are not complete. A response that is still leaving
   * is not idle, although `closeIdleConnections()` would cut it as soon as `end()` was called.
   */
  endIdle(most: number = Number.POSITIVE_INFINITY): boolean {
    let ended = 0;
    for (const [socket, how] of this.#idleSockets()) {
      if (ended >= most) {
        return true;
      }
      ended += 1;
      this.#ending.add(socket);
      if (how === "in order") {
        this.#close(socket);
      } else {
        socket.destroy();
      }
    }
    return false;
  }

  /** How each is to be ended: `in order` where bytes have been exchanged. */
  *#idleSockets(): Iterable<readonly [Socket, "in order" | "at once"]> {
    const list = listOf(this.#server);
    if (list === null) {
      HttpServer.prototype.closeIdleConnections.call(this.#server);
    }
    for (const { socket } of list?.idle() ?? []) {
      if (socket && !socket._httpMessage && !this.#ending.has(socket)) {
        yield [socket, "in order"];
      }
    }
    const handshaken = this.#tls ? this.#tcpBelow() : null;
    for (const socket of this.#sockets) {
      const isSilent = handshaken === null ? socket.bytesRead === 0 : !handshaken.has(socket);
      if (isSilent && !this.#ending.has(socket)) {
        yield [socket, "at once"];
      }
    }
    for (const socket of this.#secured) {
      if (socket.bytesRead === 0 && !this.#ending.has(socket)) {
        yield [socket, "in order"];
      }
    }
  }

  /**
   * How many lie between two requests and could be left to the exit. None over TLS, where close_notify goes first, and
   * none of those without a byte, which the app's own `close()` would wait for.
   */
  idle(): number {
    const idle = this.#tls ? [] : (listOf(this.#server)?.idle() ?? []);
    return idle.filter(({ socket }) => socket && !socket._httpMessage && socket.bytesRead > 0).length;
  }

  /** Nothing is being written on it. Over TLS close_notify goes first, or the end looks like an attacker's. */
  #close(socket: Socket): void {
    if (this.#tls) {
      socket.destroySoon();
    } else {
      socket.destroy();
    }
  }

  /** Every connection once: the TLS socket where there is one. */
  *each(): Iterable<Socket> {
    const below = this.#tcpBelow();
    yield* this.#secured;
    for (const socket of this.#sockets) {
      if (!below.has(socket)) {
        yield socket;
      }
    }
  }

  #tcpBelow(): Set<Socket | null | undefined> {
    return new Set([...this.#secured].map((socket) => socket._parent));
  }
}

/** Whether HTTP is still spoken on it: an upgraded connection has lost its parser. */
export function speaksHttp(socket: Socket): boolean {
  return Boolean((socket as Inside).parser);
}

/** Whether an answer is still leaving on it. */
export function isAnswering(socket: Socket): boolean {
  return Boolean((socket as Inside)._httpMessage);
}

/** Ends a connection so that no client can take what it got for complete. */
export function reset(socket: Socket): void {
  const tcp = (socket as Inside)._parent ?? socket;
  try {
    tcp.resetAndDestroy();
  } catch {
    // A unix socket cannot be reset; closing it is all there is.
  }
  socket.destroy();
}

/** Node's own list of a server's HTTP connections; behind a symbol, hence only if it is there. */
function listOf(server: HttpServer): ConnectionsList | null {
  const key = Object.getOwnPropertySymbols(server).find(
    (symbol) => symbol.description === "http.server.connections",
  );
  const list = key === undefined ? null : (server as unknown as Record<symbol, ConnectionsList>)[key];
  // Deno has something else behind a symbol of that name.
  return typeof list?.idle === "function" && typeof list.all === "function" ? list : null;
}
