/**
 * An HTTP/1.1 client that hides nothing: no retry, no queue, no pipelining. Each failure has its stage and code, and each
 * connection its id, age and history. It is fast because it reads into one shared buffer and keeps one timer for all.
 */

import net from "node:net";
import type { Stage } from "../ledger/records.ts";
import { DeadlineList } from "./deadline-list.ts";
import type { Exchange } from "./exchange.ts";
import { ResponseParser } from "./response-parser.ts";

export interface HttpClientOptions {
  readonly host: string;
  readonly port: number;
  /** Pool connections, the most recently used first; otherwise a new one for each request. */
  readonly keepAlive: boolean;
  /** Counted from the intended time. */
  readonly timeoutMs: number;
  readonly now: () => number;
  /** Called once for each request, when its fate is known. */
  readonly onEnd: (exchange: Exchange) => void;
}

export interface HttpClient {
  /** Sends now. `wire` is the whole request, head and body. Intended times must not go backwards. */
  send(n: number, intendedMs: number, wire: string): void;
  /** Requests without a fate. */
  readonly open: number;
  /** Closes every connection; open requests get no fate. */
  close(): void;
}

/** Reads are synchronous from the kernel to `onread`, so all connections of a thread can share one buffer. */
const READ_BUFFER_BYTES = 64 * 1024;

/** Who ended the connection, by the error; anything else is a matter of the network between them. */
const CLOSED_FIRST: Readonly<Record<string, "client" | "server">> = {
  EOF: "server",
  ECONNRESET: "server",
  EPIPE: "server",
  TIMEOUT: "client",
  PARSE: "client",
};

class Connection {
  readonly id: number;
  readonly socket: net.Socket;
  readonly bornMs: number;
  readonly parser = new ResponseParser();
  /** The request that it carries now. */
  exchange: Exchange | null = null;
  /** How many it has carried. */
  carried = 0;
  /** The request's bytes while the connection is being made. */
  waiting = "";
  readonly onWritten: (error?: Error | null) => void;

  constructor(id: number, bornMs: number, socket: net.Socket, now: () => number) {
    this.id = id;
    this.bornMs = bornMs;
    this.socket = socket;
    this.onWritten = (error) => {
      if (!error && this.exchange !== null) {
        this.exchange.writtenMs = now();
      }
    };
  }
}

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { host, port, keepAlive, now, onEnd } = options;
  const buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES);
  const all = new Set<Connection>();
  /** Idle connections, the most recently used last. */
  const idle: Connection[] = [];
  let lastId = 0;

  /** Every connection that carries a request. */
  const deadlines = new DeadlineList<Connection>(now, (connection) => fail(connection, "TIMEOUT"));

  function discard(connection: Connection): void {
    if (!all.delete(connection)) {
      return;
    }
    const at = idle.indexOf(connection);
    if (at >= 0) {
      idle.splice(at, 1);
    }
    connection.socket.destroy();
  }

  function finish(connection: Connection, exchange: Exchange): void {
    const { parser } = connection;
    exchange.endedMs = now();
    if (parser.status > 0) {
      exchange.status = parser.status;
      exchange.promised = parser.promised;
      exchange.got = parser.got;
      exchange.copy = parser.copy;
      exchange.upstream = parser.upstream;
    }
    connection.exchange = null;
    deadlines.remove(connection);
    onEnd(exchange);
  }

  function stageOf(connection: Connection, exchange: Exchange): Stage {
    if (Number.isNaN(exchange.connectedMs)) {
      return "connect";
    }
    if (connection.parser.state !== "head" && connection.parser.status > 0) {
      return "body";
    }
    return Number.isNaN(exchange.writtenMs) ? "write" : "wait";
  }

  function fail(connection: Connection, code: string): void {
    const { exchange } = connection;
    if (exchange !== null) {
      exchange.stage = stageOf(connection, exchange);
      exchange.error = code;
      if (exchange.stage !== "connect") {
        exchange.closedFirst = CLOSED_FIRST[code] ?? null;
      }
      finish(connection, exchange);
    }
    discard(connection);
  }

  /** The response is whole. */
  function answered(connection: Connection, exchange: Exchange, serverClosed: boolean): void {
    const { parser } = connection;
    if (serverClosed) {
      exchange.closedFirst = "server";
    }
    // A server may answer before it has read the whole request; then the rest is still on its way out.
    const written = !Number.isNaN(exchange.writtenMs);
    const reusable = keepAlive && !serverClosed && parser.keepAlive && !parser.surplus && written;
    finish(connection, exchange);
    if (reusable) {
      idle.push(connection);
    } else {
      discard(connection);
    }
  }

  function received(connection: Connection, length: number): void {
    const { exchange, parser } = connection;
    if (exchange === null) {
      // Bytes that nobody asked for (a pre-emptive 408, say): no client would trust this connection again.
      discard(connection);
      return;
    }
    if (Number.isNaN(exchange.firstByteMs)) {
      exchange.firstByteMs = now();
    }
    parser.push(buffer, length);
    if (parser.state === "done") {
      answered(connection, exchange, false);
    } else if (parser.state === "broken") {
      fail(connection, "PARSE");
    }
  }

  function ended(connection: Connection): void {
    const { exchange, parser } = connection;
    if (exchange === null) {
      discard(connection);
      return;
    }
    parser.end();
    if (parser.state === "done") {
      answered(connection, exchange, true);
    } else {
      fail(connection, "EOF");
    }
  }

  function open(bornMs: number): Connection {
    const socket = net.connect({
      host,
      port,
      noDelay: true,
      autoSelectFamily: false,
      onread: {
        buffer,
        callback: (length) => {
          received(connection, length);
          return true;
        },
      },
    });
    const connection = new Connection((lastId += 1), bornMs, socket, now);
    socket.on("connect", () => {
      const { exchange } = connection;
      if (exchange !== null) {
        exchange.connectedMs = now();
        socket.write(connection.waiting, connection.onWritten);
        connection.waiting = "";
      }
    });
    socket.on("end", () => ended(connection));
    socket.on("error", (error: NodeJS.ErrnoException) => fail(connection, error.code ?? "UNKNOWN"));
    // A socket that closes without an end or an error still decides the fate of what it carries.
    socket.on("close", () => fail(connection, "EOF"));
    all.add(connection);
    return connection;
  }

  return {
    send: (n, intendedMs, wire) => {
      const dispatchedMs = now();
      const pooled = keepAlive ? idle.pop() : undefined;
      const connection = pooled ?? open(dispatchedMs);
      const exchange: Exchange = {
        n,
        intendedMs,
        dispatchedMs,
        connectedMs: pooled === undefined ? Number.NaN : dispatchedMs,
        writtenMs: Number.NaN,
        firstByteMs: Number.NaN,
        endedMs: Number.NaN,
        status: null,
        stage: null,
        error: null,
        connectionId: connection.id,
        reuse: connection.carried,
        ageMs: dispatchedMs - connection.bornMs,
        closedFirst: null,
        promised: null,
        got: 0,
        copy: null,
        upstream: null,
      };
      connection.exchange = exchange;
      connection.carried += 1;
      connection.parser.reset();
      deadlines.add(connection, intendedMs + options.timeoutMs);
      if (pooled === undefined) {
        connection.waiting = wire;
      } else {
        connection.socket.write(wire, connection.onWritten);
      }
    },
    get open() {
      return deadlines.size;
    },
    close: () => {
      deadlines.clear();
      for (const connection of all) {
        connection.exchange = null;
        discard(connection);
      }
    },
  };
}
