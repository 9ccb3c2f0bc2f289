/**
 * The clients of WebSockets: each opens one, sends numbered messages, wants an answer to each, and leaves with a close frame after
 * its time. One that the service ends in good order comes back, as a real client would; every opening is an exchange of its own.
 */

import { newExchange } from "./exchange.ts";
import type { LibraryClientOptions } from "./library-client.ts";
import type { StructuredRequest } from "./mix.ts";
import { WebSocketVisit } from "./web-socket-visit.ts";

export interface WebSocketClient {
  /** `planned`: the n-th request, come back for so many times. */
  send(n: number, intendedMs: number, planned: (again: number) => StructuredRequest): void;
  /** Those without a fate. */
  readonly open: number;
  /** The load is over: whoever is there leaves, and nobody comes back. */
  stop(): void;
  /** Ends at once; those that are open get no fate. */
  close(): void;
}

/** Long enough that a service which closes at once is not asked without a pause. */
const COME_BACK_MS = 250;

export function createWebSocketClient(options: LibraryClientOptions): WebSocketClient {
  const { now, onEnd } = options;
  /** Those that are there, and those that will come back. */
  const visits = new Set<Pick<WebSocketVisit, "leave" | "end">>();
  let open = 0;
  let lastId = 0;

  function visit(
    n: number,
    intendedMs: number,
    planned: (again: number) => StructuredRequest,
    again: number,
    untilMs: number | null,
  ): void {
    const request = planned(again);
    const exchange = newExchange(n, intendedMs, now());
    exchange.again = again;
    exchange.connectionId = lastId += 1;
    open += 1;
    const one = new WebSocketVisit(options, request, exchange, untilMs, {
      fate: () => {
        open -= 1;
        onEnd(exchange);
      },
      dismissed: (leaveAtMs) => {
        if (leaveAtMs - now() > COME_BACK_MS + (request.webSocket?.everyMs ?? 0)) {
          later(() => visit(n, now(), planned, again + 1, leaveAtMs));
        }
      },
      gone: () => visits.delete(one),
    });
    visits.add(one);
  }

  function later(comeBack: () => void): void {
    open += 1; // It has no fate yet, and the load is not over without it.
    const waits = setTimeout(() => {
      forget();
      comeBack();
    }, COME_BACK_MS);
    const forget = (): void => {
      clearTimeout(waits);
      open -= 1;
      visits.delete(waiting);
    };
    const waiting = { leave: forget, end: forget };
    visits.add(waiting);
  }

  return {
    send: (n, intendedMs, planned) => visit(n, intendedMs, planned, 0, null),
    get open() {
      return open;
    },
    stop: () => {
      for (const one of visits) {
        one.leave();
      }
    },
    close: () => {
      for (const one of visits) {
        one.end();
      }
    },
  };
}
