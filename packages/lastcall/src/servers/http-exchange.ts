/** One HTTP/1.1 request in flight, and how it is found again from its request or its response. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Exchange } from "../admission.ts";

const EXCHANGE: unique symbol = Symbol("lastcall.exchange");

type Tagged = IncomingMessage & { [EXCHANGE]?: HttpExchange };

export class HttpExchange implements Exchange {
  readonly server: Server;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startedAt: number;
  open = 1;
  clientGone = false;
  previous: Exchange | null = null;
  next: Exchange | null = null;
  #abort: AbortController | null = null;

  constructor(server: Server, request: IncomingMessage, response: ServerResponse, startedAt: number) {
    this.server = server;
    this.request = request;
    this.response = response;
    this.startedAt = startedAt;
    (request as Tagged)[EXCHANGE] = this;
  }

  route(): string {
    const url = this.request.url ?? "";
    const query = url.indexOf("?");
    return `${this.request.method} ${query === -1 ? url : url.slice(0, query)}`;
  }

  /** Made only when asked for: an AbortController costs more than everything else that we do per request. */
  signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  abort(reason: string): void {
    this.#abort?.abort(new DOMException(reason, "AbortError"));
  }
}

export function exchangeOf(request: IncomingMessage): HttpExchange | undefined {
  return (request as Tagged)[EXCHANGE];
}
