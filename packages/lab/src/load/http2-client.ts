/**
 * HTTP/2 without TLS, by prior knowledge, on Node's own client: a few sessions that carry many streams each. A session that was told
 * to go (GOAWAY) gets no new one. It repeats nothing: a stream that was refused and may be sent again is told as such.
 */

import {
  connect as connectHttp2,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
} from "node:http2";
import net from "node:net";
import { EventCounter } from "./event-counter.ts";
import { newExchange, type Exchange } from "./exchange.ts";
import { AnswerReader, codeOf, stageOf, type LibraryClientOptions } from "./library-client.ts";
import type { StructuredRequest } from "./mix.ts";
import { feed, type LibraryClient } from "./node-client.ts";

/** Used in turn. A balancer of layer 4 gives each to one copy: with one alone a copy would get everything and the others nothing. */
const SESSIONS = 4;

/** For why a stream has ended without an answer. */
const GOAWAY_FOLLOWS_MS = 30;

interface Session {
  readonly id: number;
  readonly bornMs: number;
  readonly http2: ClientHttp2Session;
  connectedMs: number;
  /** Streams so far. */
  carried: number;
  /** Of the lowest GOAWAY that came: streams above it were not worked on. */
  lastStream: number | null;
  /** How its connection ended: `EOF`, `ECONNRESET`, `ECONNREFUSED`. */
  ended: string | null;
}

/** By number: `INTERNAL_ERROR`, `CANCEL`, ... */
const RESET_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants).flatMap(([name, value]) => {
    // The constants of errors are those that stand before this one, and have no other word in front.
    const code =
      /^NGHTTP2_((?:[A-Z]+_ERROR)|CANCEL|REFUSED_STREAM|SETTINGS_TIMEOUT|STREAM_CLOSED|ENHANCE_YOUR_CALM|INADEQUATE_SECURITY|HTTP_1_1_REQUIRED)$/.exec(
        name,
      )?.[1];
    return code === undefined || typeof value !== "number" ? [] : [[value, code] as const];
  }),
);

/** Headers that HTTP/2 has no place for. */
const OF_HTTP1: ReadonlySet<string> = new Set(["connection", "transfer-encoding"]);

export function createHttp2Client(options: LibraryClientOptions): LibraryClient {
  const { host, port, now, onEnd } = options;
  const authority = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const all = new Set<Session>();
  const places: (Session | undefined)[] = [];
  let turn = 0;
  let lastId = 0;
  let open = 0;
  let closed = false;

  function connect(): Session {
    const socket = net.connect({ host, port, noDelay: true, autoSelectFamily: false });
    const http2 = connectHttp2(authority, { createConnection: () => socket });
    const session: Session = {
      id: (lastId += 1),
      bornMs: now(),
      http2,
      connectedMs: Number.NaN,
      carried: 0,
      lastStream: null,
      ended: null,
    };
    socket.once("connect", () => (session.connectedMs = now()));
    // Before the session's own listeners: its streams end after we know why.
    socket.prependOnceListener("end", () => (session.ended ??= "EOF"));
    socket.prependOnceListener("error", (error) => (session.ended ??= codeOf(error)));
    socket.prependOnceListener("close", () => (session.ended ??= "EOF"));
    http2.on("goaway", (_code, lastStream) => {
      session.lastStream = Math.min(session.lastStream ?? Number.POSITIVE_INFINITY, lastStream ?? 0);
    });
    // Its streams tell of it, each for itself.
    http2.on("error", () => undefined);
    http2.once("close", () => all.delete(session));
    all.add(session);
    return session;
  }

  function isUsable({ http2, lastStream, ended }: Session): boolean {
    return lastStream === null && ended === null && !http2.closed && !http2.destroyed;
  }

  function nextSession(fresh: boolean): Session {
    if (fresh || !options.keepAlive) {
      return connect();
    }
    turn = (turn + 1) % SESSIONS;
    const known = places[turn];
    const session = known !== undefined && isUsable(known) ? known : connect();
    places[turn] = session;
    return session;
  }

  /** Why the stream has no whole answer. */
  function codeFor(session: Session, stream: ClientHttp2Stream, failure: Error | null): string {
    const { lastStream, ended, http2 } = session;
    const reset = stream.rstCode ?? constants.NGHTTP2_NO_ERROR;
    if (
      reset === constants.NGHTTP2_REFUSED_STREAM ||
      (lastStream !== null && stream.id !== undefined && stream.id > lastStream)
    ) {
      return "REFUSED_STREAM";
    }
    // A server that destroys a session resets its streams with NO_ERROR first.
    if (ended !== null || http2.destroyed || reset === constants.NGHTTP2_NO_ERROR) {
      return lastStream === null ? (ended ?? codeOf(failure ?? { code: "EOF" })) : "GOAWAY";
    }
    return `RST_${RESET_NAMES.get(reset) ?? reset}`;
  }

  function ask(session: Session, planned: StructuredRequest, endStream: boolean): ClientHttp2Stream {
    const plain = Object.entries(planned.headers).filter(([name]) => !OF_HTTP1.has(name));
    const length =
      planned.body === null || planned.upload !== null
        ? {}
        : { "content-length": Buffer.byteLength(planned.body) };
    return session.http2.request(
      { ":method": planned.method, ":path": planned.path, ...Object.fromEntries(plain), ...length },
      { endStream },
    );
  }

  function begin(planned: StructuredRequest): readonly [Session, ClientHttp2Stream] {
    const endStream = planned.upload === null && planned.body === null;
    const session = nextSession(planned.fresh);
    try {
      return [session, ask(session, planned, endStream)];
    } catch {
      // It was told to go a moment ago, and nothing has been sent: that is what a new session is for.
      places[turn] = undefined;
      const other = nextSession(planned.fresh);
      return [other, ask(other, planned, endStream)];
    }
  }

  function follow(exchange: Exchange, planned: StructuredRequest): void {
    const [session, stream] = begin(planned);
    const reader = new AnswerReader(exchange);
    const counter = planned.eventsForMs === null ? null : new EventCounter();
    let whole = false;
    let over = false;
    let failure: Error | null = null;
    exchange.connectionId = session.id;
    exchange.reuse = session.carried;
    exchange.ageMs = Math.max(0, exchange.dispatchedMs - session.bornMs);
    session.carried += 1;
    open += 1;

    const end = (code: string | null, closedFirst: Exchange["closedFirst"], atMs = now()): void => {
      if (over || closed) {
        return;
      }
      over = true;
      open -= 1;
      clearTimeout(late);
      clearTimeout(leaving);
      // A session that was being made when the request was sent.
      exchange.connectedMs = Math.max(session.connectedMs, exchange.dispatchedMs);
      // Node counts a request as written when it is in its own queue.
      exchange.writtenMs = Math.max(exchange.writtenMs, exchange.connectedMs);
      if (counter !== null) {
        exchange.events = counter.events;
      }
      if (code !== null) {
        exchange.stage = stageOf(exchange);
        exchange.error = code;
      }
      exchange.closedFirst = closedFirst;
      exchange.endedMs = atMs;
      onEnd(exchange);
      if (planned.fresh || !options.keepAlive) {
        session.http2.close();
      }
    };
    const late = setTimeout(
      () => {
        if (counter === null || exchange.status === null) {
          end("TIMEOUT", "client");
          stream.close(constants.NGHTTP2_CANCEL);
        }
      },
      Math.max(1, exchange.intendedMs + options.timeoutMs - now()),
    );
    const leaving =
      planned.eventsForMs === null
        ? undefined
        : setTimeout(() => {
            end(
              counter !== null && counter.gaps > 0 ? "GAP" : exchange.status === null ? "TIMEOUT" : null,
              "client",
            );
            stream.close(constants.NGHTTP2_CANCEL);
          }, planned.eventsForMs);

    stream.once("finish", () => (exchange.writtenMs = now()));
    stream.once("response", (headers) => {
      exchange.firstByteMs = now();
      reader.head(headers[":status"] ?? 0, headers);
    });
    stream.on("data", (part: Buffer) => {
      reader.body(part);
      counter?.push(part, 0, part.length);
    });
    stream.once("end", () => (whole = true));
    stream.once("error", (error) => (failure = error));
    stream.once("close", () => {
      const short = exchange.promised !== null && exchange.got < exchange.promised;
      const good =
        whole &&
        !short &&
        exchange.status !== null &&
        !stream.aborted &&
        (stream.rstCode ?? 0) === constants.NGHTTP2_NO_ERROR;
      if (good) {
        end(counter !== null && counter.gaps > 0 ? "GAP" : null, null);
      } else {
        // Their GOAWAY comes after the resets of a session's streams, be it in the same read.
        const atMs = now();
        setTimeout(() => {
          const code = codeFor(session, stream, failure);
          end(code, code === "ECONNREFUSED" ? null : "server", atMs);
        }, GOAWAY_FOLLOWS_MS);
      }
    });
    if (planned.upload !== null) {
      void feed(stream, planned.upload);
    } else if (planned.body !== null) {
      stream.end(planned.body);
    }
  }

  return {
    send: (n, intendedMs, planned) => follow(newExchange(n, intendedMs, now()), planned),
    get open() {
      return open;
    },
    close: () => {
      closed = true;
      for (const { http2 } of all) {
        http2.destroy();
      }
    },
  };
}
