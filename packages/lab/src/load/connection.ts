/** A connection of the lab's own client: what it carries, what it has carried, and how a request's bytes go out on it. */

import type net from "node:net";
import type { EventCounter } from "./event-counter.ts";
import type { Exchange } from "./exchange.ts";
import type { Outgoing } from "./mix.ts";
import { ResponseParser } from "./response-parser.ts";

export class Connection {
  readonly id: number;
  readonly socket: net.Socket;
  readonly bornMs: number;
  readonly parser: ResponseParser = new ResponseParser();
  /** The request that it carries now. */
  exchange: Exchange | null = null;
  /** How many it has carried. */
  carried = 0;
  /** The request's bytes while the connection is being made. */
  waiting = "";
  readonly onWritten: (error?: Error | null) => void;
  outgoing: Outgoing | undefined;
  /** What is left to do at a time of our own: the next piece of an upload, the end of a stream. */
  timer: NodeJS.Timeout | null = null;
  counter: EventCounter | null = null;

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

/** The request's bytes on a connection that stands: its head, and the pieces of its body, each at its time. */
export function writeRequest(
  connection: Connection,
  exchange: Exchange,
  wire: string,
  now: () => number,
): void {
  const { socket } = connection;
  const upload = connection.outgoing?.upload ?? null;
  if (upload === null) {
    socket.write(wire, connection.onWritten);
    return;
  }
  let next = 0;
  exchange.uploaded = 0;
  socket.write(wire);
  const piece = (): void => {
    connection.timer = null;
    const bytes = upload.pieces[next];
    if (bytes === undefined || connection.exchange !== exchange) {
      return;
    }
    next += 1;
    socket.write(bytes, (error) => {
      if (error || connection.exchange !== exchange) {
        return;
      }
      exchange.uploaded += bytes.length;
      if (next === upload.pieces.length) {
        exchange.writtenMs = now();
      } else if (upload.everyMs > 0) {
        connection.timer = setTimeout(piece, upload.everyMs);
      } else {
        piece();
      }
    });
  };
  piece();
}
