/** One request in flight over HTTP, and how it is found again from what the app has in its hands. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Server } from "node:net";
import type { Exchange } from "../admission.ts";

const EXCHANGE: unique symbol = Symbol("lastcall.exchange");

interface Tagged {
  [EXCHANGE]?: ServedExchange;
}

/** What HTTP/1.1 and HTTP/2 have in common. `tagged` is the object by which it is found again. */
export abstract class ServedExchange implements Exchange {
  readonly server: Server;
  readonly startedAt: number;
  open = 1;
  clientGone = false;
  previous: Exchange | null = null;
  next: Exchange | null = null;
  #abort: AbortController | null = null;

  constructor(server: Server, startedAt: number, tagged: object) {
    this.server = server;
    this.startedAt = startedAt;
    (tagged as Tagged)[EXCHANGE] = this;
  }

  abstract route(): string;

  /** Made only when asked for: an AbortController costs more than everything else that we do per request. */
  signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  abort(reason: string): void {
    this.#abort?.abort(new DOMException(reason, "AbortError"));
  }
}

export class HttpExchange extends ServedExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;

  constructor(server: Server, request: IncomingMessage, response: ServerResponse, startedAt: number) {
    super(server, startedAt, request);
    this.request = request;
    this.response = response;
  }

  route(): string {
    return routeOf(this.request.method, this.request.url);
  }
}

/** `GET /work`, without the query: that may hold what no log should. */
export function routeOf(method: string | undefined, url: string | undefined): string {
  const path = url ?? "";
  const query = path.indexOf("?");
  return `${method} ${query === -1 ? path : path.slice(0, query)}`;
}

/** Of the very object that was tagged: the request of HTTP/1.1, the stream of HTTP/2. */
export function exchangeAt(tagged: object): ServedExchange | undefined {
  return (tagged as Tagged)[EXCHANGE];
}

/** Of a request as the app knows it. */
export function exchangeOf(request: IncomingMessage | Http2ServerRequest): ServedExchange | undefined {
  return exchangeAt(request) ?? ("stream" in request ? exchangeAt(request.stream) : undefined);
}
