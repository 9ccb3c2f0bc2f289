/**
 * An HTTP/1.1 server (plain, TLS or on a unix socket) as the lifecycle drains it: which requests are in flight, who is
 * let in, and how each connection ends.
 */

import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import { coarseClock } from "../coarse-clock.ts";
import type { Undo } from "../host.ts";
import { listenBeside } from "./beside.ts";
import { announceOn, LastRequests } from "./announce.ts";
import type { Connections } from "./connections.ts";
import { cutHttp1 } from "./http1-cut.ts";
import { exchangeAt, HttpExchange } from "./http-exchange.ts";
import { interpose } from "./interpose.ts";
import { lingerBehind } from "./lingering-close.ts";
import { closeListener, socketFile, type Closed } from "./listener.ts";
import { refuseRequest } from "./refusal.ts";
import type { DrainedServer, ServerHooks } from "./server.ts";
import { SPREAD_SHARE } from "./spread.ts";
import { Turns } from "./turns.ts";

/** Begins to count what `server` does. Works before and after `listen()`, and with requests already in flight. */
export function attachHttp1(server: HttpServer, hooks: ServerHooks, connections: Connections): DrainedServer {
  const { host, admission } = hooks;
  const clock = coarseClock(host);
  const last = new LastRequests();
  const turns = new Turns(host);
  const undo: Undo[] = [];
  let file = socketFile(server);
  let announcing = false;
  let swept = false;
  let sweepPlanned = false;
  let closing: Promise<Closed> | null = null;

  function listen(event: string, listener: (...args: any[]) => void): void {
    server.prependListener(event, listener);
    undo.push(() => void server.removeListener(event, listener));
  }

  /** Shared by all responses, so that a request costs no closure. */
  function responseClosed(this: ServerResponse): void {
    const exchange = exchangeAt(this.req);
    if (exchange !== undefined) {
      exchange.clientGone = !this.writableFinished;
      if (exchange.clientGone) {
        exchange.abort("The client has gone away.");
      }
      admission.settle(exchange);
    }
    if (swept) {
      planSweep();
    }
  }

  function begin(request: IncomingMessage, response: ServerResponse): HttpExchange {
    const exchange = new HttpExchange(server, request, response, clock());
    admission.begin(exchange);
    response.on("close", responseClosed);
    return exchange;
  }

  /** Shared like `responseClosed`. */
  function responseFinished(this: ServerResponse): void {
    lingerBehind(host, this);
  }

  /** Told one by one, or all at once; after the gate there is no more time. */
  function isTurnOf(socket: object): boolean {
    return !hooks.spread || admission.gate !== "open" || turns.hasCome(socket);
  }

  /** The client is told to go with this answer, if it is the last one. */
  function tell(request: IncomingMessage, response: ServerResponse): void {
    announceOn(response, () => last.isLast(request) && isTurnOf(request.socket));
    response.prependListener("finish", responseFinished);
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    if (request.httpVersionMajor > 1 || exchangeAt(request) !== undefined) {
      // Counted as a stream; or an app's checkContinue listener that passes the request on to 'request' itself.
      return;
    }
    begin(request, response);
    if (announcing) {
      last.received(request, true);
      tell(request, response);
    }
  }

  /** True when the app shall not see it. */
  function decide(event: string | symbol, args: readonly unknown[]): boolean {
    if (event === "clientError") {
      countClientError(args[0] as NodeJS.ErrnoException);
    } else if (event === "drop") {
      admission.refuse("dropped");
    } else if (event === "connection") {
      hooks.onConnection();
    } else if (REQUESTS.has(event as string) && !admission.admits()) {
      const request = args[0] as IncomingMessage;
      if (request.httpVersionMajor === 1) {
        refuse(request, args[1] as ServerResponse);
        return true;
      }
    }
    return false;
  }

  function refuse(request: IncomingMessage, response: ServerResponse): void {
    last.received(request, true);
    tell(request, response);
    if (!hooks.answerProbe(request, response)) {
      admission.refuse("503");
      refuseRequest(request, response);
    }
  }

  /** Node answers these by itself and closes the connection. */
  function countClientError(error: NodeJS.ErrnoException): void {
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") {
      admission.refuse("408");
    } else if (error.code?.startsWith("HPE_") === true) {
      admission.refuse("400");
    }
  }

  /**
   * In the check phase: what has arrived by then has been read and is no longer idle. A few at a time, with a poll in between: closing
   * one takes up to 0.2 ms, and a request that comes meanwhile on one of the others would be lost.
   */
  function planSweep(): void {
    if (!sweepPlanned) {
      sweepPlanned = true;
      host.afterPoll(() => {
        sweepPlanned = false;
        if (connections.endIdle(Math.max(SWEPT_AT_ONCE, connections.size / MOST_SWEEPS))) {
          planSweep();
        }
      });
    }
  }

  function* mine(): Iterable<HttpExchange> {
    for (const exchange of admission.inFlight) {
      if (exchange instanceof HttpExchange && exchange.server === server) {
        yield exchange;
      }
    }
  }

  function shut(): Promise<Closed> {
    closing ??= close();
    return closing;
  }

  async function close(): Promise<Closed> {
    const closed = await closeListener(host, server, file, () => connections.accepted, hooks.emptyingMs());
    if (swept) {
      // Who has come in the meantime, and has asked for nothing.
      planSweep();
    }
    return closed;
  }

  listen("connection", connections.add);
  listen("secureConnection", connections.secure);
  listen("listening", () => {
    file = socketFile(server);
    if (closing !== null) {
      // It begins to listen after the gate; nothing may start then.
      closing = null;
      void shut();
    }
  });
  undo.push(...[...REQUESTS].map((event) => listenBeside(server, event, onRequest)));
  for (const response of connections.addEarlier()) {
    begin(response.req, response);
  }

  return {
    begin: () => void undo.push(interpose(server, decide)),
    announce() {
      if (announcing) {
        return;
      }
      announcing = true;
      turns.begin(hooks.announceWindowMs() * SPREAD_SHARE);
      const inFlight = [...mine()];
      inFlight.forEach(({ request }) => last.received(request, false));
      inFlight.forEach(({ request, response }) => tell(request, response));
    },
    shut,
    sweep() {
      swept = true;
      planSweep();
    },
    cut: () => cutHttp1([...mine()], connections, admission),
    connections: () => connections.size,
    idle: () => connections.idle(),
    counts: () => ({}),
    detach() {
      undo.splice(0).forEach((remove) => remove());
    },
  };
}

const SWEPT_AT_ONCE = 8;
/** Of many connections the same share goes each time, since to look for the idle ones takes its time as well. */
const MOST_SWEEPS = 32;

const REQUESTS: ReadonlySet<string> = new Set(["request", "checkContinue", "checkExpectation"]);
