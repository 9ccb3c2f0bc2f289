/**
 * An HTTP/1.1 client that hides nothing: no retry, no queue, no pipelining. Each failure has its stage and code, and each
 * connection its id, age and history. It is fast because it reads into one shared buffer and keeps one timer for all.
 */

import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Stage } from "../ledger/records.ts";
import { Connection, writeRequest } from "./connection.ts";
import { DeadlineList } from "./deadline-list.ts";
import { EventCounter } from "./event-counter.ts";
import { newExchange, type Exchange } from "./exchange.ts";
import type { Outgoing } from "./mix.ts";

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
  /** Sends now. `wire` is the whole request, head and body, but for an upload. Intended times must not go backwards. */
  send(n: number, intendedMs: number, wire: string, outgoing?: Outgoing): void;
  /**
   * Opens so many connections before they are needed. Whether they can be made is for the requests to find out: it waits for a second
   * at most, and fails never.
   */
  connect(count: number): Promise<void>;
  /** Requests without a fate. */
  readonly open: number;
  /** Connections that wait for a request. */
  readonly free: number;
  /** Closes every connection; open requests get no fate. */
  close(): void;
}

/** Reads are synchronous from the kernel to `onread`, so all connections of a thread can share one buffer. */
const READ_BUFFER_BYTES = 64 * 1024;

const CONNECT_WAIT_MS = 1000;

/** Who ended the connection, by the error; anything else is a matter of the network between them. */
const CLOSED_FIRST: Readonly<Record<string, "client" | "server">> = {
  EOF: "server",
  ECONNRESET: "server",
  EPIPE: "server",
  TIMEOUT: "client",
  PARSE: "client",
};

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { host, port, keepAlive, now, onEnd } = options;
  const buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES);
  const all = new Set<Connection>();
  /** Idle connections, the most recently used last. */
  const idle: Connection[] = [];
  let lastId = 0;

  /** Every connection that carries a request. */
  const deadlines = new DeadlineList<Connection>(now, (connection) => {
    if (connection.counter !== null && connection.parser.status > 0) {
      streaming.add(connection); // An open stream is no late answer; its end has a time of its own.
    } else {
      fail(connection, "TIMEOUT");
    }
  });
  /** Those that are open beyond the deadline of an answer. */
  const streaming = new Set<Connection>();

  function discard(connection: Connection): void {
    if (!all.delete(connection)) {
      return;
    }
    const at = idle.lastIndexOf(connection);
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
    if (connection.counter !== null) {
      exchange.events = connection.counter.events;
      connection.counter = null;
    }
    if (connection.timer !== null) {
      clearTimeout(connection.timer);
      connection.timer = null;
    }
    connection.exchange = null;
    deadlines.remove(connection);
    streaming.delete(connection);
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
    const wrong =
      parser.digestHolds() === false ? "DIGEST" : (connection.counter?.gaps ?? 0) > 0 ? "GAP" : null;
    if (wrong !== null) {
      fail(connection, wrong);
      return;
    }
    if (serverClosed) {
      exchange.closedFirst = "server";
    }
    // A server may answer before it has read the whole request; then the rest is still on its way out.
    const written = !Number.isNaN(exchange.writtenMs);
    const reusable =
      keepAlive &&
      connection.outgoing?.fresh !== true &&
      !serverClosed &&
      parser.keepAlive &&
      !parser.surplus &&
      written;
    finish(connection, exchange);
    if (reusable) {
      idle.push(connection);
    } else {
      discard(connection);
    }
  }

  /** The stream has been open for as long as it was to be: its end is ours. */
  function leaveStream(connection: Connection): void {
    const { exchange, parser } = connection;
    connection.timer = null;
    if (exchange === null) {
      return;
    }
    const { gaps = 0 } = connection.counter ?? {};
    if (parser.status === 0 || gaps > 0) {
      fail(connection, gaps > 0 ? "GAP" : "TIMEOUT");
      return;
    }
    exchange.closedFirst = "client";
    finish(connection, exchange);
    discard(connection);
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
        writeRequest(connection, exchange, connection.waiting, now);
        connection.waiting = "";
      } else if (all.has(connection)) {
        idle.push(connection);
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
    send: (n, intendedMs, wire, outgoing) => {
      const dispatchedMs = now();
      const pooled = keepAlive && outgoing?.fresh !== true ? idle.pop() : undefined;
      const connection = pooled ?? open(dispatchedMs);
      const exchange = newExchange(n, intendedMs, dispatchedMs);
      exchange.connectedMs = pooled === undefined ? Number.NaN : dispatchedMs;
      exchange.connectionId = connection.id;
      exchange.reuse = connection.carried;
      exchange.ageMs = dispatchedMs - connection.bornMs;
      connection.exchange = exchange;
      connection.outgoing = outgoing;
      connection.carried += 1;
      connection.parser.reset();
      if (outgoing !== undefined && outgoing.eventsForMs !== null) {
        const counter = new EventCounter();
        connection.counter = counter;
        connection.parser.sink = (bytes, start, end) => counter.push(bytes, start, end);
        connection.timer = setTimeout(() => leaveStream(connection), outgoing.eventsForMs);
      }
      deadlines.add(connection, intendedMs + options.timeoutMs);
      if (pooled === undefined) {
        connection.waiting = wire;
      } else {
        writeRequest(connection, exchange, wire, now);
      }
    },
    connect: async (count) => {
      const made = Array.from({ length: count }, () => {
        const { socket } = open(now());
        return new Promise<void>((resolve) => {
          socket.once("connect", resolve);
          socket.once("close", resolve);
        });
      });
      await Promise.race([Promise.all(made), sleep(CONNECT_WAIT_MS, undefined, { ref: false })]);
    },
    get open() {
      return deadlines.size + streaming.size;
    },
    get free() {
      return idle.length;
    },
    close: () => {
      deadlines.clear();
      streaming.clear();
      for (const connection of all) {
        connection.exchange = null;
        discard(connection);
      }
    },
  };
}
