/**
 * HTTP/2 as the lifecycle drains it: which streams are in flight, who is let in, and how each session ends. Node keeps a
 * list of a server's sessions only from version 24 on, so they are followed from their first event on all versions.
 */

import type {
  Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from "node:http2";
import type { Server as NetServer, Socket } from "node:net";
import { coarseClock } from "../coarse-clock.ts";
import type { Undo } from "../host.ts";
import type { Connections } from "./connections.ts";
import { exchangeAt, exchangeOf } from "./http-exchange.ts";
import { refuseStream, StreamExchange } from "./http2-exchange.ts";
import { LeavingSession } from "./http2-session.ts";
import { interpose } from "./interpose.ts";
import type { Cut, DrainedPart, ServerHooks } from "./server.ts";
import { runSpread, SPREAD_SHARE } from "./spread.ts";

export function isHttp2(server: NetServer): server is Http2Server {
  return typeof (server as { updateSettings?: unknown }).updateSettings === "function";
}

/** What Node's request API may make of a stream. */
const REQUESTS: ReadonlySet<string | symbol> = new Set([
  "request",
  "checkContinue",
  "checkExpectation",
  "connect",
]);

/** Takes over from `connections` each one on which a session begins. */
export function attachHttp2(server: Http2Server, hooks: ServerHooks, connections: Connections): DrainedPart {
  const { host, admission } = hooks;
  const clock = coarseClock(host);
  const sessions = new Map<ServerHttp2Session, LeavingSession>();
  const undo: Undo[] = [];
  /** The connection whose session comes next: Node emits both in one turn. */
  let arriving: Socket | null = null;
  const hurries: Undo[] = [];
  let announced = false;
  let shut = false;
  let swept = false;
  let sweepPlanned = false;
  let told = 0;
  let cutSessions = 0;

  function listen(event: string, listener: (...args: any[]) => void): void {
    server.prependListener(event, listener);
    undo.push(() => void server.removeListener(event, listener));
  }

  function arrived(socket: Socket): void {
    arriving = socket;
  }

  function follow(session: ServerHttp2Session, socket: Socket | null): void {
    if (sessions.has(session)) {
      return;
    }
    const leaving = new LeavingSession(host, session, socket);
    sessions.set(session, leaving);
    if (socket !== null) {
      connections.handOver(socket);
    }
    (socket ?? session).once("close", () => {
      sessions.delete(session);
      if (sessions.size === 0) {
        hooks.onQuiet();
      }
    });
    if (shut) {
      leave(leaving);
    } else if (announced && hooks.spread) {
      leaveOver([leaving], hooks.announceWindowMs() * Math.random());
    }
  }

  function admits(stream: ServerHttp2Stream): boolean {
    return admission.admits() || sessions.get(stream.session as ServerHttp2Session)?.isWaiting === true;
  }

  function onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    if (!admits(stream)) {
      return;
    }
    const session = stream.session as ServerHttp2Session;
    if (!sessions.has(session)) {
      // It began before we were attached.
      follow(session, null);
    }
    const leaving = sessions.get(session);
    if (leaving !== undefined) {
      leaving.streams += 1;
      leaving.late += 1;
    }
    admission.begin(new StreamExchange(server, stream, headers, leaving, clock()));
    stream.on("close", streamClosed);
  }

  /** Shared by all streams. */
  function streamClosed(this: ServerHttp2Stream): void {
    const exchange = exchangeAt(this);
    if (exchange instanceof StreamExchange) {
      exchange.clientGone = this.aborted;
      if (this.aborted) {
        exchange.abort("The client has gone away.");
      }
      if (exchange.session !== undefined) {
        exchange.session.streams -= 1;
        if (swept) {
          planSweep();
        }
      }
      admission.settle(exchange);
    }
  }

  /** Whether nobody but Node's request API, and we, would see the stream: then the request is where to refuse it. */
  function hasOnlyRequests(): boolean {
    return server.listenerCount("request") > 0 && server.listenerCount("stream") <= 2;
  }

  function refuse(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
    admission.refuse("503");
    refuseStream(host, stream, headers);
    return true;
  }

  /** True when the app shall not see it. */
  function decide(event: string | symbol, args: readonly unknown[]): boolean {
    if (admission.admits()) {
      return false;
    }
    if (event === "stream") {
      const stream = args[0] as ServerHttp2Stream;
      return !admits(stream) && !hasOnlyRequests() && refuse(stream, args[1] as IncomingHttpHeaders);
    }
    const request = args[0] as Http2ServerRequest;
    if (!REQUESTS.has(event) || request.httpVersionMajor !== 2 || exchangeOf(request) !== undefined) {
      return false;
    }
    return (
      hooks.answerProbe(request, args[1] as Http2ServerResponse) || refuse(request.stream, request.headers)
    );
  }

  function leave(leaving: LeavingSession): void {
    if (!leaving.begun && sessions.has(leaving.session)) {
      told += 1;
      leaving.leave();
    }
  }

  function leaveOver(some: readonly LeavingSession[], windowMs: number): void {
    const { hurry, cancel } = runSpread(host, some, windowMs, leave);
    hurries.push(hurry);
    undo.push(cancel);
  }

  /** In the check phase: a stream that has arrived by then has been read. */
  function planSweep(): void {
    if (!sweepPlanned) {
      sweepPlanned = true;
      host.afterPoll(() => {
        sweepPlanned = false;
        sessions.forEach((leaving) => {
          leave(leaving);
          leaving.endIfIdle();
        });
      });
    }
  }

  function mine(): readonly StreamExchange[] {
    return [...admission.inFlight].filter(
      (exchange): exchange is StreamExchange =>
        exchange instanceof StreamExchange && exchange.server === server,
    );
  }

  listen("connection", arrived);
  listen("secureConnection", arrived);
  listen("session", (session: ServerHttp2Session) => follow(session, arriving));
  listen("stream", onStream);

  return {
    begin() {
      undo.push(interpose(server, decide));
    },
    announce() {
      if (hooks.spread && !announced && !shut) {
        announced = true;
        leaveOver([...sessions.values()], hooks.announceWindowMs() * SPREAD_SHARE);
      }
    },
    shut() {
      shut = true;
      hurries.splice(0).forEach((hurry) => hurry());
      sessions.forEach(leave);
      if (swept) {
        planSweep();
      }
    },
    sweep() {
      swept = true;
      planSweep();
    },
    cut() {
      const cuts = mine().map((exchange): Cut => {
        return { route: exchange.route(), startedAt: exchange.startedAt, how: exchange.cut(host) };
      });
      cutSessions += sessions.size;
      sessions.forEach((leaving) => leaving.finish());
      // What was written in this turn has left by then.
      host.afterPoll(() => sessions.forEach(({ session }) => session.destroy()));
      return cuts;
    },
    connections: () => sessions.size,
    idle: () => 0,
    counts: () => (told === 0 ? {} : { http2Sessions: told, http2SessionsCut: cutSessions }),
    detach() {
      undo.splice(0).forEach((remove) => remove());
    },
  };
}
