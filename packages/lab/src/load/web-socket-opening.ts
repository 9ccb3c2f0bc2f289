/** The opening of a WebSocket: a client's handshake (RFC 6455, section 4.1), and what may come instead of a WebSocket. */

import { request, type ClientRequest } from "node:http";
import type { Duplex } from "node:stream";
import type { Stage } from "../ledger/records.ts";
import type { Exchange } from "./exchange.ts";
import { AnswerReader, codeOf, type LibraryClientOptions } from "./library-client.ts";
import type { StructuredRequest } from "./mix.ts";
import { handshake } from "./web-socket-frames.ts";

/** The one or the other happens, once; nothing after the request was destroyed. */
export interface OpeningEvents {
  /** `first`: bytes that came behind the answer. */
  stands(socket: Duplex, first: Buffer): void;
  /** `code`: null where the service has refused in words. `stage`: if it is not what the exchange says. */
  fails(code: string | null, stage?: Stage): void;
}

export function openWebSocket(
  { host, port, now }: Pick<LibraryClientOptions, "host" | "port" | "now">,
  { path, headers }: StructuredRequest,
  exchange: Exchange,
  events: OpeningEvents,
): ClientRequest {
  const { headers: asking, accept } = handshake();
  const { connection: _, ...plain } = headers;
  const reader = new AnswerReader(exchange);
  const sent = request({ host, port, path, agent: false, headers: { ...plain, ...asking } });
  sent.once("socket", (socket) => socket.once("connect", () => (exchange.connectedMs = now())));
  sent.once("finish", () => (exchange.writtenMs = now()));
  sent.on("error", (error) => events.fails(codeOf(error)));
  sent.once("upgrade", (answer, socket, first) => {
    exchange.firstByteMs = now();
    if (answer.headers["sec-websocket-accept"] !== accept) {
      socket.destroy();
      events.fails("PARSE");
      return;
    }
    reader.head(answer.statusCode ?? 101, answer.headers);
    events.stands(socket, first);
  });
  sent.once("response", (answer) => {
    exchange.firstByteMs = now();
    reader.head(answer.statusCode ?? 0, answer.headers);
    answer.on("data", (part: Buffer) => reader.body(part));
    answer.once("error", (error) => events.fails(codeOf(error)));
    answer.once("close", () => {
      if (answer.complete && (exchange.status ?? 0) < 400) {
        events.fails("NO_UPGRADE", "wait");
      } else {
        events.fails(answer.complete ? null : "EOF");
      }
    });
  });
  sent.end();
  return sent;
}
